import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { repository } from '../../../tooling/repository';
import type { Result } from './result';

/*
 * The table of docs/inside/cluster.md. A row is replaced when it has been run whole; the others stay as they are, and
 * those that were never run say so.
 */

const BEGIN = '<!-- cluster-soak:begin -->';
const END = '<!-- cluster-soak:end -->';
const PAGE = join(repository, 'docs', 'inside', 'cluster.md');

const FORMATTER = join(repository, 'node_modules', 'oxfmt', 'bin', 'oxfmt');

const HEAD = ['run', 'uploads', 'lost', 'doubled', 'measured', 'reached', 'on'];

const NOT_MEASURED = ['–', '–', '–', 'not measured', '–', '–'];

type Cells = readonly string[];

/** The rows of the table in a page, by their first cell. */
function rowsIn(text: string): Map<string, Cells> {
  const lines = text.split('\n').filter((line) => line.startsWith('|'));
  const rows = lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  return new Map(rows.map(([title = '', ...cells]) => [title, cells]));
}

function cellsOf({ uploads, lost, doubled, goals, minutes, load }: Result): Cells {
  const others = goals.filter(({ name }) => !['lost', 'doubled'].includes(name));
  const missed = goals.filter(({ isReached }) => !isReached);
  const time = minutes === undefined ? '' : `${minutes} min, `;
  return [
    uploads,
    lost,
    doubled,
    others.map(({ name, measured, limit }) => `${name} ${measured} (${limit})`).join('; '),
    missed.length === 0 ? 'yes' : `no: ${missed.map(({ name }) => name).join(', ')}`,
    `${time}${new Date().toISOString().slice(0, 10)}, load ${load.toFixed(1)}`,
  ];
}

/** The text of a page with some rows replaced. @param titles of all rows, in order */
export function pageWith(text: string, titles: readonly string[], measured: Result): string {
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('docs/inside/cluster.md lacks its two markers.');
  const rows = rowsIn(text.slice(begin, end));
  rows.set(measured.title, cellsOf(measured));
  const lines = [
    HEAD,
    HEAD.map(() => '---'),
    ...titles.map((title) => [title, ...(rows.get(title) ?? NOT_MEASURED)]),
  ].map((cells) => `| ${cells.join(' | ')} |`);
  const cores = `On ${availableParallelism()} cores, which other work shared: the load is the machine's average over the minute before the run.`;
  return `${text.slice(0, begin)}${BEGIN}\n\n${lines.join('\n')}\n\n${cores}\n\n${text.slice(end)}`;
}

/** Writes what a row gave into the page. */
export function writeRow(titles: readonly string[], measured: Result): void {
  writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), titles, measured));
  execFileSync(process.execPath, [FORMATTER, PAGE], { cwd: repository });
}
