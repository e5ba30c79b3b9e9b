import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../../../tooling/repository';

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

let installed: Promise<string> | undefined;

/**
 * Packs the built package and installs the tarball into an empty user folder of Node-RED, as a
 * user would. Done once; each Node-RED gets a copy.
 */
export async function userDirWithPackage(name: string): Promise<string> {
  installed ??= packAndInstall();
  const userDir = join(await temporary(), name);
  await cp(await installed, userDir, { recursive: true });
  return userDir;
}

async function packAndInstall(): Promise<string> {
  const home = await temporary();
  const userDir = join(home, 'installed');
  await mkdir(userDir);
  // dist is built already, and the build must not run under the tests that are using it.
  const packed = await npm(['pack', '--ignore-scripts', '--json', '--pack-destination', home]);
  const [tarball] = JSON.parse(packed) as [{ filename: string }];
  await writeFile(join(userDir, 'package.json'), '{ "name": "user", "private": true }\n');
  const quick = ['--prefer-offline', '--no-audit', '--no-fund', '--omit=dev'];
  await npm(['install', ...quick, join(home, tarball.filename)], userDir);
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
