import assert from 'node:assert/strict';
import { cloudApp, load, node } from './support/flow';
import { call, fail } from './support/messages';
import { useNodeRed } from './support/node-red';
import {
  APPID,
  APPKEY,
  CONNECTED,
  GONE,
  publicService,
  type PublicService,
} from '../tooling/servers/public-service';

const HIGH = [4, 9, 12, 15];
const PINS = '0,1,2,3,4,5,9,10,12,13,14,15';

describe('the nodes at a service that answers as the public server of 2016', () => {
  useNodeRed();
  let service: PublicService;
  const chipid = CONNECTED;

  async function start(kind: string, properties: object = {}, app: object = {}): Promise<void> {
    service = await publicService();
    service.high = new Set(HIGH);
    const { baseUrl } = service;
    const keys = { app: { appkey: APPKEY } };
    await load([cloudApp({ baseUrl, appid: APPID }, app), node(kind, properties)], keys);
  }

  for (const pins of [undefined, '', 'auto', PINS]) {
    it(`reads each pin's own level with the pins ${JSON.stringify(pins)}`, async () => {
      await start('gpio', { operation: 'read' }, { pins });
      for (const pin of [0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15]) {
        const out = await call('gpio', { chipid, pin });
        assert.equal(out.payload, HIGH.includes(pin) ? 1 : 0, `pin ${pin}`);
        assert.equal(out['result'], '\0\0\0\0\u0001\0\u0001\0\u0001\0\0\u0001');
      }
      const { error, ...rest } = await fail('gpio', { chipid, pin: 6 }, 'INVALID_RESPONSE');
      assert.match(
        error.message,
        /the pins 0, 1, 2, 3, 4, 5, 9, 10, 12, 13, 14, 15: pin 6 is not among them/,
      );
      assert.equal(rest['statusCode'], 200);
    });
  }

  it('reads all pins as an array, null where there is no pin', async () => {
    await start('gpio', { operation: 'read', pin: '' });
    const { payload } = await call('gpio', { chipid });
    assert.deepEqual(payload, [0, 0, 0, 0, 1, 0, null, null, null, 1, 0, null, 1, 0, 0, 1]);
  });

  it('reads by position if the application says so', async () => {
    await start('gpio', { operation: 'read', pin: '' }, { pins: 'position' });
    const { payload } = await call('gpio', { chipid });
    assert.deepEqual(payload, [0, 0, 0, 0, 1, 0, 1, 0, 1, 0, 0, 1]);
  });

  it('is not used with an invalid order of pins', async () => {
    await start('gpio', { operation: 'read' }, { pins: '1,1' });
    const { error } = await fail('gpio', { chipid, pin: 1 }, 'NOT_CONFIGURED');
    assert.match(error.message, /order of pins/);
    assert.equal(service.requests.length, 0);
  });

  it('uses the values of the node for its levels', async () => {
    const codes = '{"\\u0001":"on"}';
    await start('gpio', { operation: 'read', codes });
    assert.equal((await call('gpio', { chipid, pin: 4 })).payload, 'on');
    assert.equal((await call('gpio', { chipid, pin: 5 })).payload, 0);
  });

  for (const [kind, properties] of [
    ['gpio', {}],
    ['gpio', { operation: 'pulse', duration: '1' }],
    ['reboot', {}],
  ] as const) {
    const what = `${kind} ${JSON.stringify(properties)}`;
    it(`warns of a result other than U+0000, which is no error: ${what}`, async () => {
      await start(kind, properties);
      const msg = { chipid, pin: 5, payload: 1 };
      assert.equal('warning' in (await call(kind, { ...msg })), false);
      service.result = 3;
      const out = await call(kind, { ...msg });
      assert.deepEqual(out.payload, { result: '\u0003' });
      assert.match(String(out['warning']), /U\+0003.*public server of 2016/);
      // Such as the digit of a service that answers 0 or 1 as text.
      service.result = 0x31;
      assert.equal('warning' in (await call(kind, { ...msg })), false);
      assert.equal('warning' in (await call(kind, { ...msg, warning: out['warning'] })), false);
    });
  }

  it('has the warning of each of several devices', async () => {
    await start('reboot', { many: true });
    service.result = 1;
    const { payload } = await call('reboot', { chipid: [chipid, GONE] });
    const [first, second] = payload as { ok: boolean; warning?: string }[];
    assert.match(first?.warning ?? '', /U\+0001/);
    assert.deepEqual([first?.ok, second?.ok, second && 'warning' in second], [true, false, false]);
  });

  it('gives the text of a callback, or its JSON', async () => {
    await start('rt-status', {});
    service.callbacks.set('text', '25,60').set('json', '{"t":21}');
    assert.equal((await call('rt-status', { chipid, key: 'text' })).payload, '25,60');
    assert.deepEqual((await call('rt-status', { chipid, key: 'json' })).payload, { t: 21 });
    await fail('rt-status', { chipid, key: 'none' }, 'INVALID_RESPONSE');
  });

  it('gives the value of a callback as the node says', async () => {
    await start('rt-status', { datatype: 'utf8' });
    service.callbacks.set('json', '{"t":21}');
    assert.equal((await call('rt-status', { chipid, key: 'json' })).payload, '{"t":21}');
  });

  it('refuses text of a callback if the node says JSON', async () => {
    await start('rt-status', { datatype: 'json' });
    service.callbacks.set('text', '25,60').set('json', '21.5');
    assert.equal((await call('rt-status', { chipid, key: 'json' })).payload, 21.5);
    await fail('rt-status', { chipid, key: 'text' }, 'INVALID_RESPONSE');
  });
});
