import assert from 'node:assert/strict';
import type { DeviceDetails, WaitingChoice } from '../../../nodes/app/answers.config';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { ask, audited, read } from '../support/routes';
import { call, fail, post, send, shows } from '../support/messages';
import { startCloud, useNodeRed } from '../support/node-red';

const ONE = '10000001';
const TWO = '10000002';

const waiting = (): Promise<WaitingChoice[]> => read('apps/app/waiting');
const cancel = async (body: object): Promise<number> =>
  (await read<{ cancelled: number }>('apps/app/waiting/cancel', body)).cancelled;

describe('the commands that wait, for the editor', () => {
  useNodeRed();

  async function start(): Promise<void> {
    const cloud = await startCloud();
    const nodes = [node('push', { when: 'upload' }), node('gpio', { when: 'upload' })];
    await load([cloudApp(cloud), ...nodes, node('reboot')]);
    cloud.switchOff(ONE);
  }

  it('are listed without what they send, with their node, and among the details of a device', async () => {
    await start();
    assert.deepEqual(await waiting(), []);
    post('push', { chipid: ONE, payload: 'Canary-Message' });
    post('gpio', { chipid: TWO, pin: 5, payload: 1 });
    await until(async () => (await waiting()).length === 2, 'both wait');
    const [push, gpio] = await waiting();
    assert.ok(push && gpio);
    const { id, since, ...rest } = gpio;
    assert.deepEqual(rest, {
      ...{ chipid: TWO, kind: 'gpio', pin: 5, level: 1, when: 'upload', node: 'gpio' },
      until: since + 3_600_000,
    });
    assert.ok(id);
    assert.doesNotMatch(JSON.stringify(push), /Canary/);
    const { waitingCommands } = await read<DeviceDetails>(`apps/app/devices/${TWO}`);
    assert.deepEqual(waitingCommands, [gpio]);
  });

  it('are cancelled one, a device, or all; the message ends with CANCELLED', async () => {
    await start();
    const sent = [1, 2, 3, 4].map((payload) =>
      send('push', { chipid: payload < 4 ? ONE : TWO, payload }),
    );
    await until(async () => (await waiting()).length === 4, 'all wait');
    const [first] = await waiting();
    assert.equal(await cancel({ ids: [first!.id] }), 1);
    assert.equal(await cancel({ ids: [first!.id] }), 0);
    assert.equal(await cancel({ chipid: Number(ONE) }), 2);
    assert.equal(await cancel({ all: true }), 1);
    for (const { error } of await Promise.all(sent))
      assert.equal((error as { code?: string }).code, 'CANCELLED');
    assert.deepEqual(
      audited().map(({ id, ids, chipids, all }) => [id, ids ?? chipids ?? all]),
      [
        ['app', [first!.id]],
        ['app', [first!.id]],
        ['app', [Number(ONE)]],
        ['app', true],
      ],
    );
  });

  it('are chosen clearly', async () => {
    await start();
    for (const body of [{}, { all: false }, { chipid: 'x' }, { ids: 'x' }, { ids: [], all: true }])
      assert.equal((await ask('apps/app/waiting/cancel', { body })).status, 400);
    assert.equal(await cancel({ ids: Array.from({ length: 5000 }, () => 'gone') }), 0);
    const { ids, more } = audited().at(-1) as unknown as { ids: string[]; more: number };
    assert.deepEqual([ids.length, more], [20, 4980]);
  });

  it('are cancelled by `msg.cancel`, those of the node alone; 0 is no error', async () => {
    await start();
    const pushed = fail('push', { chipid: ONE, payload: 'x' }, 'CANCELLED');
    const set = fail('gpio', { chipid: ONE, pin: 5, payload: 1 }, 'CANCELLED');
    await shows('gpio', 'status.awaiting-device');
    for (const wrong of ['x', '1.5', -1, null, {}, ['1', 'x'], true]) {
      const { error } = await fail('push', { cancel: wrong }, 'INVALID_INPUT');
      assert.match(error.message, /msg\.cancel must be/);
    }
    assert.equal((await call('reboot', { cancel: 'all' })).payload, 0);
    const { payload, topic } = await call('push', { cancel: [ONE, TWO], topic: 't' });
    assert.deepEqual([payload, topic], [1, 't']);
    await pushed;
    assert.equal((await call('gpio', { cancel: 'all' })).payload, 1);
    assert.equal((await set)['chipid'], ONE);
  });

  it('are what a message with `cancel` is about, also where the node lets none wait: nothing is sent then', async () => {
    const cloud = await startCloud();
    const all = node('push', { id: 'all', target: 'app' });
    const channel = node('push', { id: 'channel', transport: 'channel' });
    const keep = node('gpio', { id: 'keep', operation: 'keep' });
    await load([cloudApp(cloud), all, channel, keep]);
    for (const id of ['all', 'channel', 'keep']) {
      const { payload } = await call(id, { cancel: 'all', chipid: ONE, pin: 5, payload: 1 });
      assert.equal(payload, 0);
    }
    assert.deepEqual(cloud.requests, []);
  });
});
