import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { repository } from '../../tooling/repository';

const SCRIPT = `
  const client = require(process.argv[1]);
  const { Agent, getGlobalDispatcher } = require('undici');
  console.log(typeof client.DeviceCloudClient, getGlobalDispatcher() instanceof Agent);`;

describe('the client', () => {
  it('leaves the connections of fetch to Node.js', () => {
    const printed = execFileSync(process.execPath, ['-e', SCRIPT, repository], {
      cwd: repository,
      encoding: 'utf8',
    });
    assert.equal(printed.trim(), 'function false');
  });
});
