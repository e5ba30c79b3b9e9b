import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../tooling/repository';
import { FILES } from './rows';
import { NOTHING, type Fault } from './row';
import { WRONG_SECRET } from './wrong-secret';

const PAGE = join(repository, 'docs', 'inside', 'reliability.md');
const BEGIN = '<!-- fault-matrix:begin -->';
const END = '<!-- fault-matrix:end -->';

/** A fault, and the path of its test below test/. */
type Line = Fault & { readonly test: string };

const LINES: readonly Line[] = [
  ...Object.entries(FILES).flatMap(([file, rows]) =>
    rows.map((row) => ({ ...row, test: `nodes/matrix/${file}.ts` })),
  ),
  { ...WRONG_SECRET, test: 'e2e/credential-secret.test.ts' },
];

function groups<T>(all: readonly T[], keyOf: (one: T) => string): [key: string, T[]][] {
  const found = new Map<string, T[]>();
  for (const one of all) found.set(keyOf(one), [...(found.get(keyOf(one)) ?? []), one]);
  return [...found];
}

/** The quoted parts of what was said; codes are capitals, or a status. */
function split(said: string): { codes: string[]; texts: string[] } {
  const parts = said === NOTHING ? [] : (said.match(/`[^`]*`/g) ?? []);
  const isCode = (part: string): boolean => /^`([A-Z_]+|\d{3})`$/.test(part);
  return { codes: parts.filter(isCode), texts: parts.filter((part) => !isCode(part)) };
}

const tableRow = (cells: readonly string[]): string =>
  `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** The faults of an area, those with the same outcome in one row. */
function areaTable(area: string, lines: readonly Line[]): string {
  const tests = [...new Set(lines.map(({ test }) => `\`${test}\``))].join(', ');
  const outcomes = groups(lines, ({ expect }) => JSON.stringify(expect)).map(([, same]) => {
    const { said, then } = same[0]!.expect;
    const { codes, texts } = split(said);
    const faults = same.map(({ fault }) => fault).join('; ');
    return [faults, codes.join(', ') || '–', texts.join(', ') || '–', then];
  });
  const head = ['fault', 'code', 'log line', 'afterwards'];
  const isUsed = head.map((_, column) => outcomes.some((cells) => cells[column] !== '–'));
  const table = [head, head.map(() => '---'), ...outcomes].map((cells) =>
    tableRow(cells.filter((_, column) => isUsed[column])),
  );
  return [`### ${area[0]!.toUpperCase()}${area.slice(1)}`, tests, table.join('\n')].join('\n\n');
}

function matrix(): string {
  return groups(LINES, ({ area }) => area)
    .map(([area, lines]) => areaTable(area, lines))
    .join('\n\n');
}

describe('the fault matrix of docs/inside/reliability.md', () => {
  it('has each fault of the tests: npm run fault-matrix writes it', () => {
    const text = readFileSync(PAGE, 'utf8');
    const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
    assert.ok(begin >= 0 && end > begin, 'the page lacks its two markers');
    const ignore = (which: string): string => `<!-- prettier-ignore-${which} -->`;
    const made = [BEGIN, ignore('start'), matrix(), ignore('end'), END].join('\n\n');
    const page = text.slice(0, begin) + made + text.slice(end + END.length);
    if (process.env['WRITE_FAULT_MATRIX']) writeFileSync(PAGE, page);
    else assert.equal(text, page);
  });
});
