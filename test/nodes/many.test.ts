import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import type { Simulator, SimulatorOptions } from '../../src/simulator';
import { until } from '../tooling/until';
import { cloudApp, deploy, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, fail, post, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

interface Result {
  chipid: string;
  ok: boolean;
  payload?: unknown;
  error?: { code: string; message: string };
  statusCode?: number;
  uncertain?: boolean;
}

const resultsOf = (msg: NodeMessage): Result[] => msg.payload as Result[];
const [A, B, C] = ['10000001', '10000002', '10000003'];

describe('several devices at once', () => {
  useNodeRed();
  let cloud: Simulator;

  async function start(properties: object = {}, options: SimulatorOptions = {}): Promise<void> {
    cloud = await startCloud(options);
    const nodes = ['push', 'gpio', 'reboot', 'refresh', 'rt-status'];
    const many = nodes.map((kind) => node(kind, { many: true, ...properties }));
    await load([cloudApp(cloud), ...many, node('push', { id: 'one' })]);
  }

  it('are each called once, with the results in the order of the message', async () => {
    await start();
    cloud.fail('not-found', { chipid: A });
    cloud.fail('gateway', { chipid: C, acts: true });
    const chipid = [C, Number(B), A, `00${B}`];
    const { _msgid, ...out } = await call('push', { chipid, payload: { on: true }, topic: 't' });
    assert.ok(_msgid);
    const [gateway, , missing] = resultsOf(out);
    assert.match(gateway?.error?.message ?? '', /502.*10000003/);
    assert.match(missing?.error?.message ?? '', /404.*10000001/);
    assert.deepEqual(out, {
      chipid,
      topic: 't',
      payload: [
        { chipid: C, ok: false, error: gateway?.error, statusCode: 502, uncertain: true },
        { chipid: B, ok: true, payload: { msg: 'OK' }, statusCode: 200 },
        { chipid: A, ok: false, error: missing?.error, statusCode: 404, uncertain: false },
      ],
      failed: [A],
      uncertain: [C],
    });
    assert.deepEqual([gateway?.error?.code, missing?.error?.code], ['GATEWAY', 'NOT_FOUND']);
    assert.equal(cloud.device(B).received[0]?.text, '{"on":true}');
    assert.equal(cloud.requests.length, 3);
  });

  it('are called by each node that can', async () => {
    await start();
    for (const kind of ['gpio', 'reboot', 'refresh', 'rt-status']) {
      const msg = { chipid: [A, B], pin: 3, payload: 1, key: 'uptime' };
      const results = resultsOf(await call(kind, msg)).map(({ chipid, ok }) => [chipid, ok]);
      assert.deepEqual(results, [
        [A, true],
        [B, true],
      ]);
    }
  });

  it('may be a list of one, or of none', async () => {
    await start();
    const expected = [{ chipid: A, ok: true, payload: { msg: 'OK' }, statusCode: 200 }];
    assert.deepEqual((await call('push', { chipid: Number(A), payload: 'x' })).payload, expected);
    const none = await call('push', { chipid: [], payload: 'x', statusCode: 1 });
    assert.deepEqual([none.payload, none['failed'], none['uncertain']], [[], [], []]);
    assert.ok(!('statusCode' in none));
    assert.equal(cloud.requests.length, 1);
  });

  it('are checked before anything is sent: each number, and the message itself', async () => {
    await start();
    const wrong = await fail('push', { chipid: [A, B, '1.5'], payload: 'x' }, 'INVALID_INPUT');
    assert.match(wrong.error.message, /element 2 .*"1\.5"/);
    assert.equal(wrong.payload, 'x');
    // oxlint-disable-next-line no-sparse-arrays
    await fail('push', { chipid: [A, , B], payload: 'x' }, 'INVALID_INPUT');
    await fail('push', { chipid: [[A]], payload: 'x' }, 'INVALID_INPUT');
    await fail('push', { chipid: undefined, payload: 'x' }, 'INVALID_INPUT');
    await fail('push', { chipid: [A, B], payload: undefined }, 'INVALID_INPUT');
    const level = await fail('gpio', { chipid: [A, B], pin: 1, payload: 'up' }, 'INVALID_INPUT');
    assert.equal(level.payload, 'up');
    assert.equal(cloud.requests.length, 0);
    // Their places in the queues are free again.
    await call('push', { chipid: [A, B], payload: 'x' });
  });

  it('may be 10,000', async () => {
    await start();
    const chipid = Array.from({ length: 10_001 }, (_, index) => index);
    const { error } = await fail('push', { chipid, payload: 'x' }, 'INVALID_INPUT');
    assert.match(error.message, /10001 chip numbers.*at most 10000/);
    await call('push', { chipid: [A, ...Array<string>(9999).fill(B)], payload: 'x' });
    assert.equal(cloud.requests.length, 2);
  });

  it('are refused by a node that accepts only one', async () => {
    await start();
    const caught = await fail('one', { chipid: [A, B], payload: 'x' }, 'INVALID_INPUT');
    assert.match(caught.error.message, /is an array\. Allow several devices/);
    assert.equal(cloud.requests.length, 0);
  });

  it('end with the error of the first, and all results, if none of them succeeds', async () => {
    await start();
    cloud.fail('gateway', { chipid: A });
    cloud.fail('not-found', { chipid: B });
    const caught = await fail('push', { chipid: [A, B], payload: 'x' }, 'GATEWAY');
    assert.equal(caught['statusCode'], 502);
    assert.deepEqual(
      resultsOf(caught).map(({ ok }) => ok),
      [false, false],
    );
    assert.deepEqual([caught['failed'], caught['uncertain']], [[B], [A]]);
    // What a pin's name means is known only of each device.
    const untyped = { chipid: [A, B], pin: 'valve', payload: 1 };
    const named = await fail('gpio', untyped, 'INVALID_INPUT');
    assert.deepEqual([named['failed'], named['uncertain']], [[A, B], []]);
  });

  it('wait each for itself, and the message ends with the last one', async () => {
    await start({ when: 'online' });
    cloud.switchOff(A);
    cloud.switchOff(C);
    const sent = call('push', { chipid: [A, B, C], payload: 'x' });
    await until(() => cloud.device(B).received.length === 1, 'the one that is online has it');
    await shows('push', 'status.awaiting-device');
    await until(() => cloud.channels(A) === 1, 'the channel of the one that will wake is open');
    cloud.switchOn(A);
    cloud.upload(A, 'awake');
    await until(() => cloud.device(A).received.length === 1, 'it has it');
    assert.equal((await call('push', { cancel: [A, `0${C}`] })).payload, 1);
    const out = await sent;
    assert.deepEqual(
      resultsOf(out).map(({ chipid, ok, error }) => [chipid, ok, error?.code]),
      [
        [A, true, undefined],
        [B, true, undefined],
        [C, false, 'CANCELLED'],
      ],
    );
    assert.deepEqual([out['failed'], out['uncertain']], [[C], []]);
  });

  it('report the outcome of each when the node closes, which is logged once', async () => {
    await start({ atOnce: 2 });
    cloud.fail('hang', { chipid: B });
    cloud.fail('hang', { chipid: C });
    const msg = { chipid: [A, B, C, '7', '8'], payload: 'x' };
    post('push', msg);
    await until(() => cloud.requests.length === 3, 'two are under way');
    await deploy([cloudApp(cloud)]);
    const ending = journal.endings.find(({ node: id }) => id === 'push');
    assert.equal((ending!.error as { code?: string }).code, 'CONNECTION_LOST');
    const { failed, uncertain } = msg as { failed?: string[]; uncertain?: string[] };
    assert.deepEqual(
      [failed, uncertain],
      [
        ['7', '8'],
        [B, C],
      ],
    );
    assert.deepEqual(
      resultsOf(msg).map(({ error }) => error?.code),
      [undefined, 'CONNECTION_LOST', 'CONNECTION_LOST', 'UNREACHABLE', 'UNREACHABLE'],
    );
    assert.equal(journal.logs.filter(({ id }) => id === 'push').length, 1);
    assert.equal(cloud.requests.length, 3);
    assert.deepEqual(arrivedAt('out'), []);
  });
});
