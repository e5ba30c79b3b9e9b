import assert from 'node:assert/strict';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { files } from '../e2e/harness/observer';

describe('the search of what a Node-RED leaves behind', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'device-cloud-observer-'));
  });
  after(() => rm(folder, { recursive: true }));

  it('reads a file that is replaced again and again while it looks', async () => {
    const file = join(folder, 'context.json');
    let searching = true;
    // As Node-RED saves its context: under another name first.
    const save = async (name: string): Promise<void> => {
      await writeFile(`${file}.${name}.tmp`, name);
      await rename(`${file}.${name}.tmp`, file);
    };
    await save('first');
    const saving = (async () => {
      for (let count = 0; searching; count++) await save(String(count));
    })();
    try {
      for (let times = 0; times < 300; times++) {
        const found = await files(folder);
        assert.ok(found.some(({ where }) => where === 'the file context.json'));
      }
    } finally {
      searching = false;
      await saving;
    }
  });
});
