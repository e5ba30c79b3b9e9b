import assert from 'node:assert/strict';
import { asImported } from './examples/as-imported';
import { examples } from './examples/files';
import { useStage } from './examples/stage';
import { request } from './harness/request';

describe('the examples in a real Node-RED', () => {
  const stage = useStage();

  it('are in the import menu', async () => {
    const url = `${stage.red.url}/library/examples/flows/@device-cloud/node-red-device-cloud`;
    const names = (await (await request(url)).json()) as { fn: string }[];
    assert.deepEqual(
      names.map(({ fn }) => fn).sort(),
      examples.map(({ name }) => name),
    );
  });

  asImported(stage);
});
