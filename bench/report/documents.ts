import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE } from '../../test/soak/folders';
import { resultsText } from './markdown';
import { plot } from './plot';
import type { Results } from './results';

const BEGIN = '<!-- results: written by npm run bench -- --record -->';
const END = '<!-- end of results -->';

/** Puts the results into docs/: the tables into the document, the plot, and the numbers themselves. */
export function recordDocuments(results: Results): void {
  const file = (...names: string[]): string => join(PACKAGE, 'docs', ...names);
  const document = readFileSync(file('performance.md'), 'utf8');
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin < 0 || end < begin) throw new Error('docs/performance.md has no place for results.');
  const text = `${document.slice(0, begin)}${BEGIN}\n\n${resultsText(results)}\n${document.slice(end)}`;
  writeFileSync(file('performance.md'), text);
  writeFileSync(file('images', 'performance.svg'), plot(results));
  writeFileSync(file('performance.json'), `${JSON.stringify(results, null, 2)}\n`);
}
