import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, deploy, load, node } from './support/flow';
import type { FlowNode } from '../tooling/node-red/nodes';
import { held, nothingMore, type Held } from './support/held';
import { call, emitted, post, said, statusesOf } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

const CHIPID = '10000001';

/** A slow operation, during which a flow is stopped. */
interface Stage {
  nodes: FlowNode[];
  /** Brings the flow, just deployed, to the middle of the operation. */
  reach(cloud: Simulator): Promise<void>;
  /** Shows that a flow deployed in place of it works. */
  works(cloud: Simulator): Promise<void>;
}

async function nothingLeft(cloud: Simulator, before: Held): Promise<void> {
  await until(() => cloud.sockets() === 0, 'the service has no connection');
  await nothingMore(before);
}

async function arrives(cloud: Simulator): Promise<void> {
  await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
  cloud.upload(CHIPID, 'good');
  await emitted('good');
}

const push = { chipid: CHIPID, payload: 'x' };
const listen = node('listen', { chipids: [CHIPID], recover: 'reconnect' });

const aCall: Stage = {
  nodes: [node('push')],
  async reach(cloud) {
    cloud.fail('hang');
    const before = cloud.requests.length;
    post('push', { ...push });
    await until(() => cloud.requests.length === before + 1, 'it is under way');
  },
  async works() {
    await call('push', { ...push });
  },
};

const aHandshake: Stage = {
  nodes: [
    node('listen', { chipids: ['10000002'] }),
    listen,
    node('push', { transport: 'channel' }),
  ],
  async reach(cloud) {
    cloud.fail('hang-upgrade');
    const before = cloud.requests.length;
    post('push', { ...push });
    await until(() => cloud.requests.length > before, 'it is shaking hands');
  },
  works: arrives,
};

const aBackOff: Stage = {
  nodes: [listen],
  async reach(cloud) {
    cloud.fail('reset-upgrade');
    const { length } = statusesOf('listen');
    const isDown = ({ text = '' }): boolean => text === 'status.disconnected';
    await until(() => statusesOf('listen').slice(length).some(isDown), 'it waits');
  },
  works: arrives,
};

const aRecovery: Stage = {
  nodes: [listen],
  async reach(cloud) {
    cloud.fail('hang', { path: 'up_messages' });
    const readings = () => cloud.requests.filter(({ path }) => path.includes('up_messages'));
    const { length } = readings();
    await until(() => readings().length === length + 1, 'it reads the history');
  },
  async works(cloud) {
    await arrives(cloud);
    const isRead = (): boolean =>
      cloud.requests.some(({ path, status }) => path.includes('up_messages') && status === 200);
    await until(isRead, 'the history has been read');
  },
};

describe('a redeploy in the middle of', () => {
  useNodeRed();

  for (const [what, saying, stage] of [
    ['a call', ['CONNECTION_LOST'], aCall],
    ['a handshake', ['NOT_CONNECTED'], aHandshake],
    ['back-off', ['the channel is down (ECONNRESET).'], aBackOff],
    ['recovery', [], aRecovery],
  ] as const)
    it(`${what} leaves nothing behind, once for nothing and once for another flow, which works`, async () => {
      const cloud = await startCloud();
      const flow = (name: string): FlowNode[] => [cloudApp(cloud, { name }), ...stage.nodes];
      await load([]);
      const before = await held();
      await deploy(flow('first'));
      await stage.reach(cloud);
      await deploy([]);
      await nothingLeft(cloud, before);
      cloud.heal();
      await deploy(flow('second'));
      await stage.reach(cloud);
      cloud.heal();
      await deploy(flow('third'));
      await stage.works(cloud);
      await deploy([]);
      await nothingLeft(cloud, before);
      assert.deepEqual(said(), saying);
    });
});
