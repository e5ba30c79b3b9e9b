import assert from 'node:assert/strict';
import { asImported } from './examples/as-imported';
import { examples } from './examples/files';
import { useStage } from './examples/stage';
import { request } from './harness/request';

describe('the examples in a real Node-RED', () => {
  const stage = useStage();

  it('are in the import menu, in their folders', async () => {
    const menu = `${stage.red.url}/library/examples/flows/@device-cloud/node-red-device-cloud`;
    const read = async (path: string): Promise<unknown> => (await request(menu + path)).json();
    const folders = ((await read('')) as (string | object)[]).filter(
      (each): each is string => typeof each === 'string',
    );
    assert.deepEqual(folders, [...new Set(examples.map(({ folder }) => folder))]);
    for (const folder of folders) {
      const shown = (await read(`/${encodeURIComponent(folder)}`)) as { fn: string }[];
      const own = examples.filter((each) => each.folder === folder);
      assert.deepEqual(
        shown.map(({ fn }) => fn),
        own.map(({ name }) => name),
      );
    }
  });

  asImported(stage);
});
