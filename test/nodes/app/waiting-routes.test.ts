import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { DeviceDetails, WaitingChoice } from '../../../nodes/app/answers.config';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call, fail, post, send, shows } from '../support/messages';
import { startCloud, useNodeRed } from '../support/node-red';

const ONE = '10000001';
const TWO = '10000002';

const ask = async <T>(path: string, body?: object, status = 200): Promise<T> => {
  const url = `/device-cloud/apps/${path}`;
  const request = helper.request();
  const answer = await (body ? request.post(url).send(body) : request.get(url));
  journal.answers.push(answer.text);
  assert.equal(answer.status, status, answer.text);
  return answer.body as T;
};
const waiting = async (): Promise<WaitingChoice[]> => ask<WaitingChoice[]>('app/waiting');
const cancel = async (body: object): Promise<number> =>
  (await ask<{ cancelled: number }>('app/waiting/cancel', body)).cancelled;

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
    const { waitingCommands } = await ask<DeviceDetails>(`app/devices/${TWO}`);
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
    const entries = (journal.logs as unknown as Record<string, unknown>[]).filter(
      ({ event }) => event === 'device-cloud.waiting.cancel',
    );
    assert.deepEqual(
      entries.map(({ id, ids, chipids, all }) => [id, ids ?? chipids ?? all]),
      [
        ['app', [first!.id]],
        ['app', [first!.id]],
        ['app', [Number(ONE)]],
        ['app', true],
      ],
    );
  });

  it('are chosen clearly, and only of an application that runs', async () => {
    await start();
    for (const body of [{}, { all: false }, { chipid: 'x' }, { ids: 'x' }, { ids: [], all: true }])
      await ask('app/waiting/cancel', body, 400);
    await ask('nobody/waiting/cancel', { all: true }, 404);
    await ask('nobody/waiting', undefined, 404);
    assert.equal(await cancel({ ids: Array.from({ length: 5000 }, () => 'gone') }), 0);
    const { ids, more } = journal.logs.at(-1) as unknown as { ids: string[]; more: number };
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
