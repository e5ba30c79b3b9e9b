import assert from 'node:assert/strict';
import { readSettings, type ClientOptions } from '../../src/settings';
import { KEYS } from './support/client';
import { thrown } from './support/failure';

const baseUrl = 'https://cloud.example.com';
const read = (options: Partial<ClientOptions>) => readSettings({ baseUrl, ...options });

describe("a client's settings", () => {
  it('have the defaults of the config node', () => {
    assert.deepEqual(read({}), {
      origin: baseUrl,
      channelOrigin: 'wss://cloud.example.com',
      openApi: undefined,
      serverApi: undefined,
      timeout: 15_000,
      heartbeat: 300_000,
      ping: 30_000,
      timestampUnit: 'ms',
      deviceGap: 0,
      pins: 'auto',
      historyZone: 'auto',
      charset: 'utf-8',
      book: undefined,
    });
  });

  it('enable both interfaces with their keys', () => {
    const { openApi, serverApi } = read({ ...KEYS, appid: 10001 });
    assert.deepEqual(openApi, { appid: '10001', appkey: KEYS.appkey });
    assert.deepEqual(serverApi, {
      serverKey: KEYS.serverKey,
      serverPassword: KEYS.serverPassword,
    });
  });

  it('enable neither with half of its keys', () => {
    for (const half of [{ appid: '1' }, { appkey: 'k' }, { appid: '', appkey: 'k' }]) {
      assert.equal(read(half).openApi, undefined);
    }
    for (const half of [{ serverKey: 'k' }, { serverPassword: 'p' }]) {
      assert.equal(read(half).serverApi, undefined);
    }
  });

  const bad: [what: string, options: Partial<ClientOptions>, why: RegExp][] = [
    ['an appid that is no integer', { appid: '1x', appkey: 'k' }, /appid/],
    ['a server key with a line end', { serverKey: 'a\r\nb', serverPassword: 'p' }, /key/],
    ['a server key with an umlaut', { serverKey: 'ä', serverPassword: 'p' }, /key/],
    ['a time-out of 0', { timeout: 0 }, /time-out/],
    ['a time-out that is no number', { timeout: NaN }, /time-out/],
    ['a book that is no path', { book: '' }, /book must be the path of a file, but is empty/],
    ['an order of pins with a pin twice', { pins: '1,2,1' }, /order of pins.*0,1,2,3.*"1,2,1"/],
    ['an order of pins that is no list', { pins: 'public' }, /order of pins/],
    ['a negative heartbeat', { heartbeat: -1 }, /heartbeat/],
    ['a negative ping', { ping: -1 }, /ping/],
    ['a gap longer than a timer holds', { deviceGap: 2 ** 31 * 1000 }, /gap/],
    ['a zone that is no offset', { historyZone: 'Asia/Shanghai' }, /historyZone.*\+08:00/],
    ['a charset that is unknown', { charset: 'latin1' as never }, /charset.*utf-8 or gbk/],
    ['an unknown unit', { timestampUnit: 'min' as 's' }, /timestampUnit.*ms or s/],
  ];
  for (const [what, options, why] of bad) {
    it(`cannot have ${what}`, () => {
      assert.match(thrown(() => read(options), 'NOT_CONFIGURED').message, why);
    });
  }

  it('accept 0 to turn off the heartbeat, the ping and the gap', () => {
    const { heartbeat, ping, deviceGap } = read({ heartbeat: 0, ping: 0, deviceGap: 0 });
    assert.deepEqual([heartbeat, ping, deviceGap], [0, 0, 0]);
  });
});
