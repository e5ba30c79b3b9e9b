import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('push over the channel', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    const channel = { transport: 'channel', format: 'msg', ...properties };
    await load([cloudApp(cloud), node('push', channel)]);
  }

  it('opens the channel and delivers the text to the device', async () => {
    await start({ format: 'MSG' });
    const { _msgid, ...out } = await call('push', { chipid: 10000001, payload: 'hi', topic: 't' });
    assert.ok(_msgid);
    assert.deepEqual(out, { chipid, payload: { msg: 'sent' }, topic: 't' });
    await until(() => cloud.device(chipid).received.length === 1, 'it is received');
    assert.equal(cloud.device(chipid).received[0]?.via, 'channel');
    assert.equal(cloud.device(chipid).received[0]?.text, 'hi');
  });

  it('sends the exact bytes, in order, over one channel', async () => {
    await start();
    const pushes: [format: string, payload: unknown, bytes: Buffer][] = [
      ['MSG', 'grün 😀\u0000', Buffer.from('grün 😀\u0000')],
      ['MSG', { a: 1 }, Buffer.from('{"a":1}')],
      ['MSG', 7, Buffer.from('7')],
      ['MSG', true, Buffer.from('true')],
      ['HEX', '00 ff', Buffer.from([0, 255])],
      ['HEX', Buffer.from([1, 2]), Buffer.from([1, 2])],
      ['B64', '/w==', Buffer.from([255])],
      ['B64', Buffer.from([254]), Buffer.from([254])],
    ];
    for (const [format, payload] of pushes) await call('push', { chipid, format, payload });
    const { received } = cloud.device(chipid);
    await until(() => received.length === pushes.length, 'all are received');
    assert.deepEqual(
      received.map(({ bytes }) => bytes),
      pushes.map(([, , bytes]) => bytes),
    );
    assert.equal(cloud.channels(chipid), 1);
    assert.deepEqual(
      cloud.requests.map(({ path }) => path),
      ['/noticed/peer'],
    );
  });

  it('refuses commands and invalid data, without opening the channel', async () => {
    await start();
    const bad: [format: unknown, payload: unknown][] = [
      ['AT', 'AT'],
      ['LUA', 'print(1)'],
      ['HEX', 'f'],
      ['B64', '?'],
      ['MSG', undefined],
      ['other', 'x'],
    ];
    for (const [format, payload] of bad) {
      await fail('push', { chipid, format, payload }, 'INVALID_INPUT');
    }
    await fail('push', { chipid: '../x', format: 'MSG', payload: 'x' }, 'INVALID_INPUT');
    assert.equal(cloud.requests.length, 0);
  });

  it('reports that the channel is closed, and works again once it is open', async () => {
    await start({ format: 'MSG', timeout: '1.5' });
    const heal = cloud.fail('reset-upgrade');
    const msg = { chipid, payload: 'lost', statusCode: 200 };
    const caught = await fail('push', msg, 'NOT_CONNECTED');
    assert.match(caught.error.message, /10000001 was not sent/);
    assert.ok(!('statusCode' in caught));
    heal();
    await until(() => cloud.channels(chipid) === 1, 'the channel opens by itself');
    await call('push', { chipid, payload: 'found' });
    await until(() => cloud.device(chipid).received.length === 1, 'it is received');
    assert.equal(cloud.device(chipid).received[0]?.text, 'found');
  });

  it('uses the channel that a listener holds', async () => {
    cloud = await startCloud();
    await load([
      cloudApp(cloud),
      node('listen', { chipids: [chipid], wires: [] }),
      node('push', { transport: 'channel' }),
    ]);
    await until(() => cloud.channels(chipid) === 1, 'the listener is connected');
    await call('push', { chipid, payload: 'x' });
    assert.equal(cloud.channels(chipid), 1);
    assert.equal(cloud.requests.filter(({ path }) => path === '/noticed/peer').length, 1);
  });

  it('is sent to an application as a whole over HTTP only', async () => {
    await start({ target: 'app', format: 'MSG' });
    const out = await call('push', { payload: 'all' });
    assert.deepEqual(out.payload, { msg: 'success' });
    assert.equal(cloud.device(chipid).received[0]?.via, 'app-push');
  });
});
