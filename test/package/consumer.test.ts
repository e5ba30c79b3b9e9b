import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installedCopy, npm } from '../e2e/harness/packed';
import { repository } from '../tooling/repository';
import { TIMEOUT } from '../tooling/until';

const PACKAGE = '@device-cloud/node-red-device-cloud';
const TSC = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
const execute = promisify(execFile);

/** Runs Node.js in a folder; what it prints is in the error, too, should it fail. */
async function node(parameters: string[], cwd: string): Promise<string> {
  const options = { cwd, timeout: 4 * TIMEOUT, killSignal: 'SIGKILL' } as const;
  const run = execute(process.execPath, parameters, options).catch((error: unknown) => {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`node ${parameters.join(' ')}\n${stdout}${stderr}`);
  });
  return (await run).stdout;
}

const KINDS = ['module', 'commonjs'] as const;

/**
 * A project with the packed package and the types of Node.js, and nothing else: the same sources as ES
 * modules and as CommonJS, a folder each, so that the compiler has to start but once.
 */
async function project(): Promise<string> {
  const folder = installedCopy('consumer');
  const sources = join(repository, 'test', 'fixtures', 'consumer');
  await cp(join(sources, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  for (const type of KINDS) {
    await mkdir(join(folder, type));
    for (const file of ['use.ts', 'wrong.ts']) {
      await cp(join(sources, file), join(folder, type, file));
    }
    await writeFile(join(folder, type, 'package.json'), JSON.stringify({ type }));
  }
  const types = join('node_modules', '@types');
  await mkdir(join(folder, types));
  await symlink(join(repository, types, 'node'), join(folder, types, 'node'), 'junction');
  return folder;
}

describe('a project that installs the package', () => {
  let folder: string;
  before(async () => {
    folder = await project();
  });

  it('is type-checked strictly, libraries too, and runs, as ES modules and as CommonJS', async () => {
    assert.deepEqual(readdirSync(join(folder, 'node_modules', '@types')), ['node']);
    await node([TSC, '-p', '.'], folder);
    for (const type of KINDS) {
      assert.deepEqual(JSON.parse(await node([join(type, 'use.js')], folder)), {
        devices: 2,
        latest: 'string',
        push: [200, 'OK'],
        pin5: '1',
        upload: [['10000001', 'hello']],
        position: 'string',
        code: 'NOT_FOUND 404',
      });
    }
  });

  it('finds the three entries of the package, and no others', async () => {
    const script = `
      const entries = ['', '/simulator', '/package.json', '/dist/src/client.js', '/src/client'];
      const found = entries.filter((entry) => {
        try { return require.resolve('${PACKAGE}' + entry); } catch { return false; }
      });
      console.log(found.join(' '));`;
    assert.equal(await node(['-e', script], folder), ' /simulator /package.json\n');
  });

  it('loads the simulator only from its own entry', async () => {
    const loaded = (entry: string): Promise<string> =>
      node(
        [
          '-e',
          `const exported = require('${PACKAGE}${entry}');
          const files = Object.keys(require.cache).map((path) => path.replaceAll('\\\\', '/'));
          const simulator = files.filter((path) => path.includes('/dist/src/simulator/'));
          console.log('startSimulator' in exported, simulator.length > 0);`,
        ],
        folder,
      );
    assert.equal(await loaded(''), 'false false\n');
    assert.equal(await loaded('/simulator'), 'true true\n');
  });

  it('runs the simulator with npx', async () => {
    const command = ['exec', '--no', '--', 'device-cloud-simulator', '--help'];
    assert.match(await npm(command, folder), /^Usage: device-cloud-simulator /);
  });
});
