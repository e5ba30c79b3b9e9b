import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { parse } from 'csv-parse/sync';
import { parseChipid } from '../src/input';
import { readTests, type FlowTest } from './tests';
import { MAX_FILE, TestFileError } from './yaml';

const MAX_FILES = 1000;
const MAX_CSV = 16 * 1024 * 1024;
const MAX_ROWS = 100_000;
const TEST_FILE = /\.(ya?ml|json)$/;

/** An upload of a CSV file. */
export interface Row {
  readonly chipid: string;
  readonly payload: unknown;
}

/** Reads the tests of files and folders, in the order of their names. @throws TestFileError */
export function loadTests(paths: readonly string[]): FlowTest[] {
  const files = paths.flatMap(testFiles);
  if (files.length > MAX_FILES)
    throw new TestFileError(paths.join(', '), `there are more than ${MAX_FILES} test files.`);
  return files.flatMap((file) => {
    if (statSync(file).size > MAX_FILE) throw new TestFileError(file, 'it is larger than 1 MiB.');
    const tests = readTests(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''), file);
    for (const { given, name } of tests)
      for (const each of given)
        if ('file' in each && !existsSync(beside(file, each.file)))
          throw new TestFileError(file, `"${each.kind}" of "${name}": there is no ${each.file}.`);
    return tests;
  });
}

/** A path in a test, from the folder of its file. */
export const beside = (testFile: string, path: string): string => resolve(dirname(testFile), path);

function testFiles(path: string): string[] {
  if (!existsSync(path)) throw new TestFileError(path, 'there is no such file or folder.');
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).sort();
  const found = names.filter((name) => TEST_FILE.test(name)).map((name) => join(path, name));
  if (found.length === 0)
    throw new TestFileError(path, 'there is no test in it (.yaml, .yml or .json).');
  return found;
}

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/;

/**
 * Reads uploads from a CSV file: the column `chipid`, and `payload` or any others, which become an object.
 * @throws TestFileError
 */
export function readUploads(file: string): Row[] {
  if (statSync(file).size > MAX_CSV) throw new TestFileError(file, 'it is larger than 16 MiB.');
  let rows: Record<string, string>[];
  try {
    rows = parse(readFileSync(file), { bom: true, columns: true, skip_empty_lines: true });
  } catch (error) {
    throw new TestFileError(file, (error as Error).message);
  }
  if (rows.length > MAX_ROWS) throw new TestFileError(file, `it has more than ${MAX_ROWS} rows.`);
  return rows.map(({ chipid, payload, ...values }, index) => {
    // The first line has the names.
    const place = `${file}, upload ${index + 1}`;
    if (chipid === undefined) throw new TestFileError(file, 'it has no column "chipid".');
    try {
      return { chipid: parseChipid(chipid), payload: payload ?? asNumbers(values) };
    } catch {
      throw new TestFileError(place, `"${chipid}" is no chip number.`);
    }
  });
}

const asNumbers = (values: Readonly<Record<string, string>>): object =>
  Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, NUMBER.test(text) ? Number(text) : text]),
  );
