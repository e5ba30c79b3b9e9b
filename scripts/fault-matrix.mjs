import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatFile, root } from './npm.mjs';
import { lockPacked } from './packed.mjs';
import { fail } from './setup.mjs';
import { runStep } from './steps.mjs';
import { SUITES, mochaStep } from './suites.mjs';

/*
 * `npm run fault-matrix`: runs the fault matrix and puts what came of each fault into
 * docs/reliability.md. If any row fails, the document stays as it is.
 */

const BEGIN = '<!-- fault-matrix:begin -->';
const END = '<!-- fault-matrix:end -->';
const page = join(root, 'docs', 'reliability.md');

function table(outcomes) {
  const head = ['area', 'fault', 'error code or log line', 'afterwards'];
  const rows = outcomes.map(({ area, fault, said, then }) => [area, fault, said, then]);
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

function write(outcomes) {
  const text = readFileSync(page, 'utf8');
  const [begin, end] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (begin < 0 || end < begin) throw new Error('docs/reliability.md lacks its two markers.');
  const filled = `${text.slice(0, begin)}${BEGIN}\n\n${table(outcomes)}\n\n${text.slice(end)}`;
  writeFileSync(page, filled);
  formatFile(page);
}

const { nodes, e2e } = SUITES;
/** Rows that need a Node-RED started anew are among the e2e tests. */
const parts = [
  { part: 'nodes', suite: { ...nodes, folders: ['nodes/matrix'] }, extra: [] },
  { part: 'e2e', suite: e2e, extra: ['--grep', 'wrong credential secret'] },
];
const fileOf = (part) => join(root, '.cache', 'test', `fault-matrix-${part}.json`);

/** Runs a part of the matrix. @returns its lines, or undefined if one is missing */
async function lines({ part, suite, extra }) {
  rmSync(fileOf(part), { force: true });
  const { ok } = await runStep(mochaStep(`fault-matrix ${part}`, suite, { extra }), {
    quiet: false,
  });
  if (!ok || !existsSync(fileOf(part))) return undefined;
  const { rows, outcomes } = JSON.parse(readFileSync(fileOf(part), 'utf8'));
  return outcomes.length === rows ? outcomes : undefined;
}

const prepare = (what) => ['scripts/prepare.mjs', what];
const build = { name: 'build', commands: [prepare('build'), prepare('packed')] };
async function runAll() {
  lockPacked();
  const made = [];
  let ok = (await runStep(build, { quiet: false })).ok;
  for (const part of parts) {
    const outcomes = ok && (await lines(part));
    if (outcomes) made.push(...outcomes);
    else ok = false;
  }
  if (ok) write(made);
  else process.exitCode = 1;
  console.log(ok ? `${made.length} faults` : 'The matrix did not pass; the table is as it was.');
}

await runAll().catch(fail);
