import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '../../tooling/repository';
import { startStub } from './stub';
import type { World } from './stub';

const ADVISORIES = '/-/npm/v1/security/advisories/bulk';

/** Runs `npm run audit`, without npm around it, against a registry that answers so. */
async function audit(world: World): Promise<{ code: number | null; said: string }> {
  const registry = await startStub(world);
  const child = spawn(process.execPath, [join(repository, 'scripts', 'audit.mjs')], {
    env: { ...process.env, npm_config_registry: registry.url, npm_config_fetch_retries: '0' },
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 30_000,
  });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  registry.close();
  return { code, said };
}

const flaw = (name: string): object => ({
  [name]: [
    {
      ...{ id: 1, url: 'https://advisories.example/1', title: 'Too trusting', severity: 'high' },
      ...{ vulnerable_versions: '*', cwe: [], cvss: { score: 0 } },
    },
  ],
});

describe('npm run audit', () => {
  it('says that nothing is known', async () => {
    assert.deepEqual(await audit({ [ADVISORIES]: {} }), {
      code: 0,
      said: 'No vulnerable run-time dependencies are known.\n',
    });
  });

  it('fails, and names what is known of a run-time dependency', async () => {
    const { code, said } = await audit({ [ADVISORIES]: flaw('ws') });
    assert.equal(code, 1);
    assert.match(said, /^ws: high, Too trusting \(https:\/\/advisories\.example\/1\)$/m);
  });

  it('is about run-time dependencies alone', async () => {
    assert.equal((await audit({ [ADVISORIES]: flaw('mocha') })).code, 0);
  });

  it('fails when the registry does not say', async () => {
    const { code, said } = await audit({});
    assert.equal(code, 1);
    assert.match(said, /^No answer from the registry/);
  });
});
