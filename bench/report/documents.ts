import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../../test/support/repository';
import { resultsText } from './markdown';
import { plot } from './plot';
import { merge, type Results } from './results';

const BEGIN = '<!-- results: written by npm run bench -- --record -->';
const END = '<!-- end of results -->';
const PICTURE = '![CPU and memory of each contender, shorter is better](images/performance.svg)';

const file = (...names: string[]): string => join(repository, 'docs', ...names);
const NUMBERS = file('performance.json');

/**
 * Puts results into docs/: the tables into the document, the plot, and the numbers themselves.
 * @param isPart whether the works that were not measured keep what was recorded of them
 */
export function recordDocuments(run: Results, isPart: boolean): void {
  const results =
    isPart && existsSync(NUMBERS)
      ? merge(JSON.parse(readFileSync(NUMBERS, 'utf8')) as Results, run)
      : run;
  const document = readFileSync(file('performance.md'), 'utf8');
  const begin = document.indexOf(BEGIN);
  const end = document.indexOf(END);
  if (begin < 0 || end < begin) throw new Error('docs/performance.md has no place for results.');
  const text = `${document.slice(0, begin)}${BEGIN}\n\n${PICTURE}\n\n${resultsText(results)}\n${document.slice(end)}`;
  writeFileSync(file('performance.md'), text);
  writeFileSync(file('images', 'performance.svg'), plot(results));
  writeFileSync(NUMBERS, `${JSON.stringify(results, null, 2)}\n`);
}
