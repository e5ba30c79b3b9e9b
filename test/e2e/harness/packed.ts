import { execFile } from 'node:child_process';
import { cpSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { makeUserDir } from '../../tooling/node-red/user-dir';
import { repository } from '../../tooling/repository';
import { temporaryFolder } from '../../tooling/temporary-folder';

const execute = promisify(execFile);

/** Where the test runner has installed the packed package, once for all suites, as a user would. */
const INSTALLED = join(repository, '.cache', 'test', 'installed');
const PACKAGE = '@device-cloud/node-red-device-cloud';

/** A user folder of Node-RED that has the installed package by a link, so a test writes nothing into that. */
export const userDirWithPackage = (name: string): string =>
  makeUserDir(temporaryFolder(name), join(INSTALLED, 'node_modules', PACKAGE));

/** A copy of what was installed, for a test that changes it. */
export function installedCopy(name: string): string {
  const folder = temporaryFolder(name);
  cpSync(INSTALLED, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
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
