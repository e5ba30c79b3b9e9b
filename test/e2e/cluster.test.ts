import assert from 'node:assert/strict';
import { app, node, type FlowNode } from '../../tooling/node-red/nodes';
import { until } from '../../tooling/until';
import { openEditor } from './harness/editor';
import { ONE, fixture } from './harness/fixture';
import { around, idOf } from './harness/flows';

describe('a cluster where its client library is not installed', () => {
  const cluster: FlowNode = {
    id: 'cluster',
    ...(node('cluster', { url: 'redis://127.0.0.1:1' }) as Omit<FlowNode, 'id'>),
    type: 'device-cloud-cluster',
  };
  const here = fixture((simulator) => [
    cluster,
    app(simulator, { cluster: 'cluster' }),
    ...around('listen', node('listen', { chipids: [ONE] })),
    ...around('push', node('push')),
  ]);

  it('has nodes that say what to install, at once and for each message', async () => {
    // A Status node that starts after them would miss what the editor is shown.
    const editor = await openEditor(here.red.url);
    for (const name of ['listen', 'push']) {
      const status = () => editor.statuses.get(idOf(name));
      await until(() => status()?.text === 'status.install-ioredis', `${name} says it`);
      assert.equal(status()?.fill, 'red');
    }
    editor.close();
    const { error } = await here.red.ask('push', { chipid: ONE, payload: 'x' });
    assert.equal(error?.error?.code, 'NOT_CONFIGURED');
    assert.match(error.error.message, /npm install ioredis@6/);
    assert.equal(here.simulator.requests.length, 0);
  });
});
