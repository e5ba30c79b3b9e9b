import { execFile } from 'node:child_process';
import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  symlinkSync,
  type Dirent,
} from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../tooling/repository';

const execute = promisify(execFile);

let folder: Promise<string> | undefined;

/** A temporary folder of this test run, removed at its end. */
export function temporary(): Promise<string> {
  folder ??= mkdtemp(join(tmpdir(), 'device-cloud-e2e-'));
  return folder;
}

after(async () => {
  if (folder) await rm(await folder, { recursive: true, force: true, maxRetries: 5 });
});

/** What tests change, and what must not change in the original. */
const WRITTEN = /^package(-lock)?\.json$/;

/** Links a file that is only read, for a tenth of the cost of a copy. Links between volumes are not possible. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}

function linkEntry(entry: Dirent, from: string, to: string): void {
  if (entry.isDirectory()) copyInstalled(from, to);
  else if (entry.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (WRITTEN.test(entry.name)) copyFileSync(from, to);
  else linkOrCopy(from, to);
}

/**
 * Makes a folder like one in which npm has installed something. Only its `package.json` and `package-lock.json` files
 * are copies, which may be changed: all others are hard links, where the volume allows it.
 */
function copyInstalled(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    linkEntry(entry, join(from, entry.name), join(to, entry.name));
  }
}

/**
 * Gives a user folder of Node-RED with the packed package installed in it, as a user would. The test runner has
 * installed it once for all suites; most files are hard links to that, so a test writes into none of them.
 */
export async function userDirWithPackage(name: string): Promise<string> {
  const userDir = join(await temporary(), name);
  copyInstalled(join(repository, '.cache', 'test', 'installed'), userDir);
  return userDir;
}

/** Runs npm: the very one that runs these tests, if one does. */
export async function npm(parameters: string[], cwd = repository): Promise<string> {
  const script = process.env['npm_execpath'];
  const own = script !== undefined && basename(script).startsWith('npm');
  const options = { cwd, maxBuffer: 64 * 1024 * 1024, timeout: 300_000 };
  const { stdout } = own
    ? await execute(process.execPath, [script, ...parameters], options)
    : await execute('npm', parameters, { ...options, shell: process.platform === 'win32' });
  return stdout;
}
