import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '../tooling/repository';
import { world } from './world';

const folder = join(repository, 'dist', 'nodes');
const scripts = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.html') && !name.includes('locales'))
  .map((name) => readFileSync(join(folder, name), 'utf8'));

/** The functions of the editor that the package's nodes call, as they are built. */
const called = new Set(scripts.flatMap((text) => text.match(/\bRED(\.\w+)+(?=\()/g) ?? []));

describe('the editor of this Node-RED', () => {
  const here = world(() => []);

  it('has every function that the nodes call', async () => {
    assert.ok(called.size > 10 && called.has('RED.sidebar.addTab'), [...called].join());
    const missing = await here.editor.run(
      `${JSON.stringify([...called])}.filter((name) =>
        typeof name.split('.').slice(1).reduce((value, key) => value?.[key], RED) !== 'function')`,
    );
    assert.deepEqual(missing, []);
  });
});
