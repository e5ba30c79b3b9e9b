import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { VERSION } from '../../../src/protocol/signing';
import { repository } from '../../tooling/repository';
import { temporaryFolder } from '../../tooling/temporary-folder';

const run = (...args: string[]): string =>
  execFileSync(process.execPath, args, { cwd: repository, encoding: 'utf8' }).trim();

const LOADS = `
  const client = require(process.argv[1]);
  const { Agent, getGlobalDispatcher } = require('undici');
  console.log(typeof client.DeviceCloudClient, getGlobalDispatcher() instanceof Agent);`;

describe('the client in a program', () => {
  it('leaves the connections of fetch to Node.js', () => {
    assert.equal(run('-e', LOADS, repository), 'function false');
  });

  it('names this package and its version as User-Agent, also if it is bundled', () => {
    const signing = JSON.stringify(require.resolve('../../../src/protocol/signing'));
    const outfile = join(temporaryFolder('bundle'), 'bundle.cjs');
    buildSync({
      stdin: { contents: `console.log(require(${signing}).USER_AGENT)`, resolveDir: __dirname },
      ...{ bundle: true, platform: 'node', outfile },
    });
    assert.equal(run(outfile), `node-red-device-cloud/${VERSION}`);
  });
});
