import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { atEnd } from '../../tooling/servers/at-end';

describe('the User-Agent of a client', () => {
  it('names this package in a program that bundles it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'device-cloud-'));
    atEnd(() => {
      rmSync(folder, { recursive: true });
    });
    const bundle = join(folder, 'bundle.cjs');
    buildSync({
      stdin: {
        contents: `console.log(require(${JSON.stringify(require.resolve('../../../src/protocol/signing'))}).USER_AGENT)`,
        resolveDir: __dirname,
      },
      bundle: true,
      platform: 'node',
      outfile: bundle,
    });
    const said = execFileSync(process.execPath, [bundle], { encoding: 'utf8' });
    assert.match(said, /^node-red-device-cloud\/\d/);
  });
});
