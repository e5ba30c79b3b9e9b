import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parseChipid, readCsv, show } from '../src/index';
import { MAX_SECONDS, readTests, type FlowTest, type Given, type Upload } from './tests';
import { fileProblem, MAX_FILE } from './yaml';

const TEST_FILE = /\.(ya?ml|json)$/;

/** Reads something; an error says where it is. @throws Problem */
function inFile<T>(place: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw fileProblem(place, (error as Error).message.replace(/^INVALID_INPUT: /, ''));
  }
}

/** Reads a file of tests, or one that belongs to it. @throws Problem */
function read(file: string): Buffer {
  if (statSync(file).size > MAX_FILE)
    throw fileProblem(file, `it is larger than ${MAX_FILE / 1024 ** 2} MiB. Make several of it.`);
  return readFileSync(file);
}

/**
 * Reads the tests of files and folders, in the order of their names, with the uploads of their CSV files.
 * @throws Problem
 */
export function loadTests(paths: readonly string[]): FlowTest[] {
  return paths.flatMap(testFiles).flatMap((file) => {
    const tests = readTests(read(file).toString(), file);
    return tests.map((test) => ({ ...test, given: test.given.map((each) => loaded(each, test)) }));
  });
}

function loaded(given: Given, { file, name }: FlowTest): Given {
  if (given.kind !== 'uploads') return given;
  const csv = resolve(dirname(file), given.file);
  if (!existsSync(csv) || !statSync(csv).isFile())
    throw fileProblem(file, `"uploads" of "${name}": there is no ${given.file}.`);
  const rows = readUploads(csv);
  const { speed = 1 } = given;
  const hours = (rows.at(-1)?.at ?? 0) / speed / 3_600_000;
  if (hours * 3600 > MAX_SECONDS)
    throw fileProblem(
      file,
      `"uploads" of "${name}": ${given.file} takes ${hours.toFixed(1)} hours, of at most one. Have it played faster: ` +
        `"uploads: { file: ${given.file}, speed: ${Math.ceil(hours * speed) * 6} }" takes ten minutes at most.`,
    );
  return { ...given, rows };
}

function testFiles(path: string): string[] {
  if (!existsSync(path)) throw fileProblem(path, 'there is no such file or folder.');
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  const found = names.filter((name) => TEST_FILE.test(name)).map((name) => join(path, name));
  if (found.length > 0) return found;
  throw fileProblem(path, 'there is no test in it (.yaml, .yml or .json).');
}

/**
 * Reads uploads from a CSV file: the columns `chipid` and `payload`, and `after` or `timestamp`, in any order.
 * @returns in the order of their times
 * @throws Problem
 */
export function readUploads(file: string): Upload[] {
  const table = inFile(file, () => readCsv(read(file)));
  const column = (name: string): number => table.columns.indexOf(name);
  for (const name of ['chipid', 'payload'])
    if (column(name) === -1) throw fileProblem(file, `it has no column "${name}".`);
  const time = (['after', 'timestamp'] as const).find((name) => column(name) !== -1);
  const uploads = table.rows.map(({ line, cells }): Upload => {
    const place = `${file}:${line}`;
    const cell = (name: string): string => cells[column(name)] ?? '';
    const text = time === undefined ? '0' : cell(time).trim();
    const at = Number(text) * (time === 'after' ? 1000 : 1);
    if (text === '' || !Number.isFinite(at))
      throw fileProblem(place, `"${time}" must be a number, but is ${show(text)}.`);
    const chipid = inFile(place, () => parseChipid(cell('chipid').trim()));
    return { chipid, payload: cell('payload'), at };
  });
  uploads.sort((a, b) => a.at - b.at);
  const first = uploads[0]?.at ?? 0;
  return uploads.map((upload) => ({ ...upload, at: upload.at - first }));
}
