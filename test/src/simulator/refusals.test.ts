import assert from 'node:assert/strict';
import type { Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import {
  md5,
  openGet,
  openPost,
  openUrl,
  push,
  send,
  serverCall,
  withSimulator,
  type OpenCall,
  type Reply,
} from './client';

const DEVICE = '10000001';
const NOW = 1_700_000_000_000;
const timestamp = '1700000000';

type Call = (simulator: Simulator) => Promise<Reply>;

const get =
  (path: string, query: Record<string, string> = {}): Call =>
  (simulator) =>
    openGet(simulator, path, { query });
/** Of the application's record, signed as the call says. */
const signed =
  (call: OpenCall): Call =>
  (simulator) =>
    openGet(simulator, 'apps/', call);
/** The same, with its address changed after it was signed. */
const changed =
  (what: string | RegExp, to: string, method = 'get'): Call =>
  (simulator) =>
    send(simulator, openUrl(simulator, method, 'apps/').replace(what, to));
const upperCase = (sign: string): string => `sign=${sign.slice(5).toUpperCase()}`;
const set =
  (pinAndLevel: string): Call =>
  (simulator) =>
    openPost(simulator, `set_gpio_edge/${DEVICE}/${pinAndLevel}/`);
const pushed =
  (form: Record<string, string>): Call =>
  (simulator) =>
    openPost(simulator, 'dev/push/message/', { form });
const server =
  (path: string, headers: Record<string, string> = {}): Call =>
  (simulator) =>
    serverCall(simulator, 'GET', path, { headers: { timestamp, ...headers } });
const put =
  (body: unknown): Call =>
  (simulator) =>
    serverCall(simulator, 'PUT', `/devices/${DEVICE}`, { body, headers: { timestamp } });

// What calls do that succeed, the tests of the client show.
const REFUSED: Record<number, Record<string, Call>> = {
  400: {
    'no appid': changed(/appid=\w+&?/, ''),
    'no timestamp': changed(/timestamp=\w+&?/, ''),
    'no sign': changed(/&sign=\w+/, ''),
    'a parameter twice': changed(/$/, '&appid=10001'),
    'a timestamp that is no number': signed({ timestamp: 'now' }),
    // Only the channel has milliseconds.
    'a timestamp in milliseconds': signed({ timestamp: '1700000000000' }),
    'an appid that is no number': signed({ appid: 'ten' }),
    'a wrong method': (simulator) => openPost(simulator, 'apps/'),
    'a wrong method of a command': get(`reboot/dev/${DEVICE}/`),
    'a day that there is not': get('sync/20240230/20240301/'),
    'invalid days': get('sync/x/y/'),
    'days in the wrong order': get('sync/20240102/20240101/'),
    'uploads of a device that is no number': get('up_messages/dev/abc/'),
    'pushes of a device that is no number': get('push_messages/dev/abc/'),
    'a callback without a key': get(`rt_status/${DEVICE}/`),
    'a pin beyond the last': set('16/1'),
    'a pin that is no number': set('x/1'),
    'an invalid level': set('5/2'),
    'a push of an unknown format': pushed({ devid: DEVICE, message: 'x', format: 'msg' }),
    'a push that is not HEX': pushed({ devid: DEVICE, message: 'zz', format: 'HEX' }),
    'a push that is not Base64': pushed({ devid: DEVICE, message: 'aGk', format: 'B64' }),
    'a push to a device that is no number': pushed({ devid: '1.5', message: 'x' }),
    'a push to none': pushed({ message: 'x' }),
    'a push of nothing': pushed({ devid: DEVICE }),
    'a call of the server API without a key': server('/devices', { key: '' }),
    'one without a sign': server('/devices', { sign: '' }),
    'one without a time': server('/devices', { timestamp: '' }),
    'one whose time is no number': server('/devices', { timestamp: 'soon' }),
    'the page before the first': server('/devices?page=0'),
    'uploads without a count': server('/up/messages?page=1'),
    'a change of nothing': put({}),
    'a change that is a list': put([]),
    'a change without a body': put(''),
    'a name that is no text': put({ name: 5 }),
    'data of an unknown format': put({ data: 'x', format: 'XML' }),
  },
  401: {
    'an unknown application': signed({ appid: '99999' }),
    'a wrong app key': signed({ appkey: 'another' }),
    'an app key in lower case': signed({ appkey: 'simulator-appkey' }),
    'a short sign': signed({ sign: 'abc' }),
    'a sign in upper case': (simulator) =>
      send(simulator, openUrl(simulator, 'get', 'apps/').replace(/sign=\w+/, upperCase)),
    'the sign of another method': changed('', '', 'post'),
    'a parameter that was added after signing': changed(/$/, '&extra=1'),
    'a parameter that was changed after signing': changed(/timestamp=\d/, 'timestamp=9'),
    'a wrong sign': server('/devices', { sign: md5('x') }),
    'an unknown key': server('/devices', { key: 'another' }),
    'a time 7200 s ago': server('/devices', { timestamp: '1699992799' }),
    'a time in 7200 s': server('/devices', { timestamp: '1700007201' }),
  },
  404: {
    'uploads of an unknown device': get('up_messages/dev/10000009/'),
    'pushes of an unknown device': get('push_messages/dev/10000009/'),
    'an unknown callback': get(`rt_status/${DEVICE}/`, { key: 'toString' }),
    'a push to an unknown device': (simulator) => push(simulator, '5', 'x'),
    'the record of an unknown device': server('/devices/9'),
    'an unknown path': (simulator) => send(simulator, '/'),
    'an unknown path of the open API': (simulator) => send(simulator, '/openapi/nothing/'),
    'an unknown path of the server API': (simulator) => send(simulator, '/api/server/'),
  },
};

describe('simulator: refusals', () => {
  for (const [status, calls] of Object.entries(REFUSED))
    it(
      `are ${status}, with a reason, and reach no device`,
      withSimulator({ now: () => NOW }, async (simulator) => {
        for (const [what, call] of Object.entries(calls)) {
          const reply = await call(simulator);
          assert.equal(reply.status, Number(status), what);
          assert.match(reply.text, /^\{"msg":"/, what);
        }
        const { received, sets } = simulator.device(DEVICE);
        assert.deepEqual([received, sets], [[], []]);
      }),
    );

  it(
    'are 504, with a reason, of a device that is off or too slow',
    withSimulator({ offlineAfter: 20 }, async (simulator) => {
      simulator.switchOff('10000001');
      simulator.delay('10000002', 1000);
      for (const chipid of ['10000001', '10000002']) {
        const { status, text } = await openGet(simulator, `gpio_status/${chipid}/`);
        assert.equal(status, 504);
        assert.match(text, /^\{"msg":"/);
      }
      assert.equal((await openGet(simulator, 'gpio_status/10000003/')).status, 200);
    }),
  );

  it(
    'are no answers to a path without the final slash, which are 301 with the address, whatever the sign',
    withSimulator({}, async (simulator) => {
      const { status, headers } = await send(simulator, '/openapi/gpio_status/1?a=1&b=2');
      assert.deepEqual([status, headers.get('location')], [301, '/openapi/gpio_status/1/?a=1&b=2']);
    }),
  );

  it(
    'are not made within 7200 s',
    withSimulator({ now: () => NOW }, async (simulator) => {
      const call = server('/devices', { timestamp: '1700007200' });
      assert.equal((await call(simulator)).status, 200);
    }),
  );
});

describe('simulator: what tests of the client do not show', () => {
  it(
    'a refresh of a device that is off says so, and a push to it is in its history',
    withSimulator({ offlineAfter: 20 }, async (simulator) => {
      simulator.switchOff(DEVICE);
      const { body } = await openGet(simulator, `manual_refresh/${DEVICE}/`);
      assert.deepEqual(body, { status: 'offline', msg: 'timeout' });
      assert.equal((await push(simulator, DEVICE, 'x')).status, 504);
      const kept = (await openGet(simulator, `push_messages/dev/${DEVICE}/`)).body;
      assert.equal((kept as unknown[]).length, 1);
    }),
  );

  it(
    'a slow device acts at once, and answers later',
    withSimulator({}, async (simulator) => {
      simulator.delay(undefined, 1000);
      const answer = push(simulator, DEVICE, 'slow');
      const device = simulator.device(DEVICE);
      await until(() => device.received.length === 1, 'it has acted');
      assert.equal(device.inFlight, 1);
      assert.equal((await answer).status, 200);
    }),
  );

  it(
    'the server API lists page by page, devices that are off, too, and uploads by the ids of all devices',
    withSimulator({ devices: 5 }, async (simulator) => {
      simulator.switchOff(10000004);
      const { body } = await serverCall(simulator, 'GET', '/devices?page=2&count=3');
      const devices = ['10000004', '10000005'];
      assert.deepEqual(body, { page: 2, count: 3, total: 5, devices });
      for (const chipid of [DEVICE, '10000002', DEVICE]) simulator.upload(chipid, 'x');
      const second = await serverCall(simulator, 'GET', '/up/messages?page=2&count=2');
      const { messages, ...rest } = second.body as { messages: { id: number }[] };
      assert.deepEqual([rest, messages[0]?.id], [{ page: 2, count: 2, total: 3 }, 3]);
    }),
  );
});
