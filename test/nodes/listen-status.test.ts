import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { shows, statusesOf } from './support/messages';
import { startCloud, startSilence, useNodeRed } from './support/node-red';
import { heldTimers } from '../support/held-timers';
import { settled, until } from '../tooling/until';

const CONNECTING = { fill: 'yellow', shape: 'ring', text: 'status.connecting' };
const CONNECTED = { fill: 'green', shape: 'dot', text: 'status.connected' };
const DISCONNECTED = { fill: 'red', shape: 'ring', text: 'status.disconnected' };

describe('the status of a listener', () => {
  useNodeRed();
  let cloud: Simulator;
  const [one, two, three] = ['10000001', '10000002', '10000003'] as const;

  beforeEach(async () => {
    cloud = await startCloud();
  });
  const start = (properties: object): Promise<void> =>
    load([cloudApp(cloud), node('listen', properties)]);
  const last = () => statusesOf('listen').at(-1);

  it('is connecting, connected, disconnected, and connected again', async () => {
    await start({ chipids: [one] });
    await shows('listen', 'status.connected');
    assert.deepEqual(statusesOf('listen')[0], CONNECTING);
    assert.deepEqual(last(), CONNECTED);
    const heal = cloud.fail('reset-upgrade');
    cloud.disconnect();
    await shows('listen', 'status.disconnected');
    assert.deepEqual(last(), DISCONNECTED);
    heal();
    await shows('listen', 'status.connected');
  });

  it('stays connecting as long as the service does not answer', async () => {
    const silence = await startSilence();
    await load([cloudApp(silence), node('listen', { chipids: [one] })]);
    await until(() => silence.accepted() === 1, 'it tries');
    assert.deepEqual(last(), CONNECTING);
  });

  it('shows how many of several are connected', async () => {
    const heal = cloud.fail('reset-upgrade', { chipid: three });
    await start({ chipids: [one, two, three] });
    await shows('listen', '2/3');
    assert.deepEqual(last(), { ...CONNECTED, text: '2/3' });
    heal();
    await shows('listen', '3/3');
    cloud.fail('reset-upgrade');
    cloud.disconnect();
    await shows('listen', 'status.disconnected');
  });

  it('shows that the key is refused', async () => {
    await load([cloudApp(cloud), node('listen', { chipids: [one] })], {
      app: { appkey: 'Another-Key' },
    });
    await shows('listen', 'status.unauthorized');
    assert.equal((last() as { fill: string }).fill, 'red');
  });

  it('is red when the list of online devices cannot be read', async () => {
    cloud.fail('unauthorized');
    await start({ devices: 'online' });
    await shows('listen', 'status.unauthorized');
  });

  it('changes at most ten times a second, however many devices there are', async () => {
    const expire = heldTimers(100);
    const many = Array.from({ length: 40 }, (_, n) => String(20000000 + n));
    for (const chipid of many) cloud.addDevice({ chipid });
    await start({ chipids: many });
    await until(() => cloud.channels() === 40, 'all channels are open');
    await settled();
    assert.deepEqual(statusesOf('listen'), [CONNECTING]);
    expire();
    await shows('listen', '40/40');
  });
});
