import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { node } from './support/flow';
import { until } from '../tooling/until';
import { call, fail } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';

describe('the push node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const received = (device = chipid) => cloud.device(device).received.at(-1);

  async function start(properties: object = {}): Promise<void> {
    cloud = await startWith(node('push', properties));
  }

  it('pushes the payload as text to the device of the message', async () => {
    await start();
    const msg = { topic: 't', chipid: 10000001, payload: 'hello', deep: { kept: [1, { a: 2 }] } };
    const { _msgid, ...out } = await call('push', msg);
    assert.equal(typeof _msgid, 'string');
    assert.deepEqual(out, {
      topic: 't',
      deep: { kept: [1, { a: 2 }] },
      chipid: '10000001',
      payload: { msg: 'OK' },
      statusCode: 200,
    });
    assert.equal(received()?.text, 'hello');
    assert.equal(received()?.format, 'MSG');
    assert.equal(received()?.via, 'open-api');
  });

  it('uses the format of the node if one is set, whatever the message says', async () => {
    await start({ format: 'HEX' });
    await call('push', { chipid, payload: 'c0ffee', format: 'AT' });
    assert.deepEqual(received()?.bytes, Buffer.from('c0ffee', 'hex'));
  });

  it('takes the format of the message if configured, and refuses an unknown format', async () => {
    await start({ format: 'msg' });
    const out = await call('push', { chipid, payload: Buffer.from([0xde, 0xad]), format: 'HEX' });
    assert.equal(out['format'], 'HEX');
    assert.deepEqual(received()?.bytes, Buffer.from([0xde, 0xad]));
    for (const format of ['msg', 'hex', undefined, null, {}])
      await fail('push', { chipid, payload: '00', format }, 'INVALID_INPUT');
    assert.equal(cloud.requests.length, 1);
  });

  it('pushes to all online devices of the application', async () => {
    await start({ target: 'app' });
    cloud.switchOff('10000003');
    const out = await call('push', { payload: 'all', chipid: 'kept as it is', topic: 't' });
    assert.deepEqual(out.payload, { msg: 'success' });
    assert.equal(out['statusCode'], 200);
    assert.equal(out['chipid'], 'kept as it is');
    assert.equal(out.topic, 't');
    assert.equal(cloud.requests.at(-1)?.path, '/openapi/app/push/message/');
    assert.equal(received('10000001')?.text, 'all');
    assert.equal(received('10000002')?.text, 'all');
    assert.equal(received('10000003'), undefined);
  });

  describe('over the channel', () => {
    const channel = { transport: 'channel', format: 'MSG' };

    it('opens the channel and delivers the text to the device', async () => {
      await start(channel);
      const msg = { chipid: 10000001, payload: 'hi', topic: 't' };
      const { _msgid, ...out } = await call('push', msg);
      assert.ok(_msgid);
      assert.deepEqual(out, { chipid, payload: { msg: 'sent' }, topic: 't' });
      await until(() => received() !== undefined, 'it is received');
      assert.deepEqual([received()?.via, received()?.text], ['channel', 'hi']);
    });

    it('is sent to an application as a whole over HTTP only', async () => {
      await start({ ...channel, target: 'app' });
      await call('push', { payload: 'all' });
      assert.equal(received()?.via, 'app-push');
    });
  });
});
