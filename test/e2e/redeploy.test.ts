import assert from 'node:assert/strict';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { until } from '../../tooling/until';
import { around } from './harness/flows';
import { type FlowNode, app, node } from '../../tooling/node-red/nodes';

describe('redeploying in a real Node-RED', () => {
  const all = (simulator: Parameters<typeof app>[0], timeout = '10'): FlowNode[] => [
    app(simulator),
    ...around('listen', node('listen', { chipids: [ONE, TWO, THREE] })),
    ...around('push', node('push', { timeout })),
    ...around('channel', node('push', { transport: 'channel' })),
  ];
  const here = fixture(all);

  it('leaves no socket behind, and the flows still work', async () => {
    for (let times = 0; times < 10; times++) {
      await here.red.deploy(all(here.simulator));
      await here.red.ask('push', { chipid: ONE, payload: `push ${times}` });
      await here.red.ask('channel', { chipid: TWO, payload: `channel ${times}` });
    }
    await until(() => here.simulator.channels() === 3, 'there is one channel a device');
    await here.red.deploy([]);
    await until(() => here.simulator.sockets() === 0, 'no socket is left');
  });

  it('ends calls in flight without waiting for the device', async () => {
    await here.red.deploy(hearing(all(here.simulator)));
    here.simulator.fail('hang', { times: 1, path: 'dev/push' });
    const pushes = (): number =>
      here.simulator.requests.filter(({ path }) => path.includes('dev/push')).length;
    const before = pushes();
    const [hangs, waits] = ['hangs', 'waits'].map((payload) => ({ chipid: ONE, payload }));
    await here.red.inject('push', hangs!, waits!);
    await until(() => pushes() === before + 1, 'the call is on its way');
    await here.red.deploy(hearing(all(here.simulator, '11')).map(withoutCredentials), 'nodes');
    const errors = await here.red.waitFor('push', 'error', 2);
    assert.deepEqual(
      new Map(errors.map(({ payload, error }) => [payload, error?.code])),
      new Map([
        ['waits', 'UNREACHABLE'],
        ['hangs', 'CONNECTION_LOST'],
      ]),
    );
    assert.equal((await here.red.ask('push', { chipid: ONE, payload: 'works' })).error, undefined);
    assert.ok(!here.simulator.device(ONE).received.some(({ text }) => text === 'waits'));
  });
});

/**
 * Node-RED restarts a Catch node along with the nodes that are in its scope. One without a scope
 * stays, and learns how the messages end.
 */
const hearing = (flows: FlowNode[]): FlowNode[] =>
  flows.map((each) => (each.id === 'push-error-in' ? { ...each, scope: null } : each));

/** As the editor sends a node whose credentials have not changed. */
const withoutCredentials = (each: FlowNode): FlowNode => ({ ...each, credentials: undefined });
