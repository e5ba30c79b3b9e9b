import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { printable } from '../src/index';
import type { Result } from './run';

const indented = (text: string, by: string): string => text.replace(/^/gm, by);

/** A line for a test that passed; otherwise the expectation, what was seen, and the log. */
export function resultText({ test, seconds, failures, details }: Result): string {
  const head = `${failures.length === 0 ? '✓' : '✗'} ${test.name} (${seconds.toFixed(1)} s)`;
  return [
    head,
    ...failures.map((failure) => indented(failure, '    ')),
    ...details.map((detail) => indented(detail, '      ')),
  ].join('\n');
}

export function summary(results: readonly Result[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  return `${results.length - failed} passed, ${failed} failed`;
}

/** Text for XML, which of what is printable has no place for two characters. */
const xml = (text: string): string =>
  printable(text)
    .replace(/[\uFFFE\uFFFF]/g, '\uFFFD')
    .replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

/** Writes the results as JUnit does, which CI services read. */
export function writeJunit(file: string, results: readonly Result[]): void {
  const cases = results.map(({ test, seconds, failures, details }) => {
    const open = `    <testcase name="${xml(test.name)}" classname="${xml(test.file)}" time="${seconds.toFixed(3)}"`;
    const [first] = failures;
    if (first === undefined) return `${open}/>`;
    const text = [...failures, ...details].join('\n');
    return `${open}>\n      <failure message="${xml(first)}">${xml(text)}</failure>\n    </testcase>`;
  });
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const time = results.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3);
  const counts = `tests="${results.length}" failures="${failed}" errors="0" time="${time}"`;
  const lines = [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${counts}>`,
    `  <testsuite name="device-cloud-test" ${counts}>`,
    ...cases,
    '  </testsuite>',
    '</testsuites>',
    '',
  ];
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join('\n'));
}
