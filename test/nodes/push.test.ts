import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('the push node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const received = (device = chipid) => cloud.device(device).received.at(-1);

  async function start(properties: object = {}): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), node('push', properties)]);
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

  it('puts the text form-encoded into the body and nothing but the signature into the address', async () => {
    await start();
    const payload = 'a=1&b=%2B+c ä€😀';
    await call('push', { chipid, payload });
    const request = cloud.requests.at(-1)!;
    assert.equal(request.method, 'POST');
    assert.equal(request.path, '/openapi/dev/push/message/');
    assert.equal(request.headers['content-type'], 'application/x-www-form-urlencoded');
    const form = new URLSearchParams(request.body);
    assert.deepEqual(Object.fromEntries(form), { devid: chipid, message: payload, format: 'MSG' });
    const names = [...new URLSearchParams(request.query).keys()].sort();
    assert.deepEqual(names, ['appid', 'sign', 'timestamp']);
    assert.match(request.headers['user-agent'] ?? '', /^[\w@/-]+\/\d+\.\d+\.\d+/);
    assert.equal(received()?.text, payload);
  });

  it('keeps every digit of a 20-digit chip number', async () => {
    const long = '98765432109876543210';
    cloud = await startCloud({ devices: [{ chipid: long }] });
    await load([cloudApp(cloud), node('push')]);
    const out = await call('push', { chipid: long, payload: 'x' });
    assert.equal(out['chipid'], long);
    assert.equal(received(long)?.text, 'x');
  });

  const FORMATS: [format: string, payload: unknown, bytes: Buffer | string][] = [
    ['MSG', 42.5, '42.5'],
    ['MSG', false, 'false'],
    ['MSG', '', ''],
    ['MSG', Buffer.from('grün'), 'grün'],
    ['MSG', { a: [1, null] }, '{"a":[1,null]}'],
    ['MSG', [1, 2], '[1,2]'],
    ['AT', 'AT+RST', 'AT+RST'],
    ['LUA', 'print("x")\nnode.restart()', 'print("x")\nnode.restart()'],
    ['HEX', '00 fF  7e', Buffer.from([0x00, 0xff, 0x7e])],
    ['HEX', Buffer.from([0xde, 0xad]), Buffer.from([0xde, 0xad])],
    ['B64', 'AAEC/w==', Buffer.from([0, 1, 2, 255])],
    ['B64', Buffer.from([0xff, 0xfe]), Buffer.from([0xff, 0xfe])],
  ];

  it('delivers each form of payload to the device in each format', async () => {
    await start({ format: 'msg' });
    for (const [format, payload, bytes] of FORMATS) {
      const out = await call('push', { chipid, payload, format });
      assert.deepEqual(out.payload, { msg: 'OK' });
      assert.equal(out['format'], format);
      assert.equal(received()?.format, format);
      assert.deepEqual(received()?.bytes, Buffer.from(bytes), `${format} ${String(payload)}`);
    }
  });

  it('uses the format of the node if one is set, whatever the message says', async () => {
    await start({ format: 'HEX' });
    await call('push', { chipid, payload: 'c0ffee', format: 'AT' });
    assert.deepEqual(received()?.bytes, Buffer.from('c0ffee', 'hex'));
  });

  it('refuses a payload that the format does not accept, before anything is sent', async () => {
    await start({ format: 'msg' });
    const bad: [format: unknown, payload: unknown][] = [
      ['HEX', 'abc'],
      ['HEX', '0x00'],
      ['HEX', 'zz'],
      ['HEX', 12],
      ['HEX', { a: 1 }],
      ['B64', 'AAE'],
      ['B64', 'A A E C'],
      ['B64', 'AA-_'],
      ['B64', 5],
      ['MSG', Buffer.from([0xff, 0xfe])],
      ['AT', Buffer.from([0xc3, 0x28])],
      ['msg', 'x'],
      ['hex', '00'],
      [undefined, 'x'],
      [null, 'x'],
      [{}, 'x'],
    ];
    for (const [format, payload] of bad) {
      await fail('push', { chipid, format, payload }, 'INVALID_INPUT');
    }
    assert.equal(cloud.requests.length, 0);
    await call('push', { chipid, format: 'MSG', payload: 'good' });
    assert.equal(received()?.text, 'good');
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

  it('gives up on a device that does not answer within its own time-out', async () => {
    await start({ timeout: '1' });
    cloud.fail('hang');
    const caught = await fail('push', { chipid, payload: 'x' }, 'TIMEOUT');
    assert.match(caught.error.message, /^TIMEOUT: no answer in 1 s\. .*10000001.*acted is unknown/);
    assert.ok(!('statusCode' in caught));
  });
});
