import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail, send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { BAD_CHIPIDS, circular } from './support/values';

/** Every node that takes a chip number, with all else good. */
const NODES = [
  node('push'),
  node('push', { id: 'push-channel', transport: 'channel' }),
  node('gpio'),
  node('gpio', { id: 'gpio-read', operation: 'read', pin: '' }),
  node('reboot'),
  node('refresh'),
  node('rt-status', { key: 'uptime', keyType: 'str' }),
  node('history'),
  node('history', { id: 'history-pushes', operation: 'pushes' }),
];

describe('a message that is not what the call takes', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  // Few connections: one that a bad call had used up would be missed by the good one.
  async function start(nodes = NODES): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud, { connections: 2 }), ...nodes]);
  }
  const last = () => cloud.device(chipid).received.at(-1);

  for (const { id } of NODES) {
    it(`never reaches the network from ${id} without a chip number, and a good one does`, async () => {
      await start();
      const rest = { payload: 1, pin: 1 };
      await Promise.all(
        BAD_CHIPIDS.map((bad) => fail(id, { ...rest, chipid: bad }, 'INVALID_INPUT')),
      );
      assert.equal(cloud.requests.length, 0);
      await call(id, { ...rest, chipid });
      assert.equal(cloud.requests.length, 1);
    });
  }

  it('refuses a payload that cannot be pushed', async () => {
    await start();
    const bad: unknown[] = [
      ...[undefined, null, 10n, () => 1, Symbol('x'), NaN, Infinity, circular(), { big: 1n }],
      ...['\ud800', 'half a pair \udc00 inside', { toJSON: () => undefined }],
    ];
    for (const payload of bad) {
      await fail('push', { chipid, payload }, 'INVALID_INPUT');
      await fail('push-channel', { chipid, payload }, 'INVALID_INPUT');
    }
    assert.equal(cloud.requests.length, 0);
    await call('push', { chipid, payload: 'good' });
    assert.equal(last()?.text, 'good');
  });

  it('is not reported just because a value is unusual', async () => {
    await start();
    const date = new Date(0);
    const unusual: [payload: unknown, text: string][] = [
      [date, '"1970-01-01T00:00:00.000Z"'],
      ['\u0000a\u0000', '\u0000a\u0000'],
      ['😀👩‍👩‍👧', '😀👩‍👩‍👧'],
      ['\r\n\t "\'\\', '\r\n\t "\'\\'],
      [-0, '0'],
      [1e300, '1e+300'],
      [[], '[]'],
      [{ __proto__: null, a: 1 }, '{"a":1}'],
      ['%00&devid=1&sign=x', '%00&devid=1&sign=x'],
    ];
    for (const [payload, text] of unusual) {
      await call('push', { chipid, payload });
      assert.equal(last()?.text, text);
    }
  });

  it('may hold ten megabytes of text', async () => {
    await start();
    const payload = `ü${'x'.repeat(10 * 1024 * 1024 - 4)}ü`;
    const { error } = await send('push', { chipid, payload });
    assert.equal(error, undefined);
    assert.equal(last()?.bytes.length, 10 * 1024 * 1024);
    assert.ok(last()?.text === payload);
  });

  it('says what is wrong in a few words on one line', async () => {
    await start();
    const long = `x\r\n\u0000${'y'.repeat(10_000_000)}`;
    const { error } = await fail('push', { chipid: long, payload: 'x' }, 'INVALID_INPUT');
    assert.ok(error.message.length < 300);
    assert.match(error.message, /^\P{Cc}*$/u);
    assert.match(error.message, /chip number/);
  });

  it('repeats no address that could break a header or path', async () => {
    await start([node('rt-status', { id: 'rt' })]);
    const key = 'a/../b?c=d#e\r\nX: y';
    await fail('rt', { chipid, key }, 'NOT_FOUND');
    const request = cloud.requests.at(-1)!;
    assert.equal(request.path, `/openapi/rt_status/${chipid}/`);
    assert.equal(new URLSearchParams(request.query).get('key'), key);
    assert.equal(request.headers['x'], undefined);
  });
});
