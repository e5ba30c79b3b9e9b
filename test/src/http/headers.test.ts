import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { readManifest } from '../../../src/http/headers';
import { atEnd } from '../../tooling/servers/at-end';

describe('the User-Agent of a client', () => {
  const manifests: [manifest: unknown, name: string, version: string][] = [
    [{ name: '@scope/app', version: '1.2.3-rc.1+5' }, 'app', '1.2.3-rc.1+5'],
    [{}, 'node-red-device-cloud', '0'],
    [{ type: 'commonjs' }, 'node-red-device-cloud', '0'],
    [null, 'node-red-device-cloud', '0'],
    [[], 'node-red-device-cloud', '0'],
    [{ name: 5, version: {} }, 'node-red-device-cloud', '0'],
    [{ name: 'a\r\nb', version: 'ä' }, 'node-red-device-cloud', '0'],
    [{ name: 'Robot-arm', version: '1' }, 'node-red-device-cloud', '1'],
  ];
  for (const [manifest, name, version] of manifests) {
    it(`can be made of the manifest ${JSON.stringify(manifest)}`, () => {
      assert.deepEqual(readManifest(JSON.stringify(manifest)), { name, version });
    });
  }

  it('needs no name in the manifest of a program that bundles it', () => {
    const folder = mkdtempSync(join(tmpdir(), 'device-cloud-'));
    atEnd(() => {
      rmSync(folder, { recursive: true });
    });
    writeFileSync(join(folder, 'package.json'), '{"private":true}');
    const bundle = join(folder, 'bundle.cjs');
    buildSync({
      stdin: {
        contents: `console.log(require(${JSON.stringify(require.resolve('../../../src/http/headers'))}).USER_AGENT)`,
        resolveDir: __dirname,
      },
      bundle: true,
      platform: 'node',
      outfile: bundle,
    });
    const said = execFileSync(process.execPath, [bundle], { encoding: 'utf8' });
    assert.equal(said.trim(), 'node-red-device-cloud/0');
  });
});
