import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import { USER_AGENT } from '../../../src/protocol/signing';
import { clientOf, KEYS, simulated, simulator } from '../support/client';
import { signByHand } from '../../tooling/sign-by-hand';
import { failure } from '../support/failure';

const LONG = '18446744073709551615';

type Run = (client: DeviceCloudClient) => Promise<unknown>;

const KEY = 'Key & ä+%';
const PUSHED = 'A&B=C%20+ä';

/** Each call, its method and path, and what it has beyond the common parameters, in its query or in its form. */
const CASES: Record<string, [Run, method: string, path: string, more?: Record<string, string>]> = {
  app: [(client) => client.app(), 'GET', 'apps/'],
  devices: [(client) => client.devices(), 'GET', 'devices/list/'],
  push: [
    (client) => client.push(LONG, PUSHED, { format: 'MSG' }),
    ...(['POST', 'dev/push/message/'] as const),
    { devid: LONG, message: PUSHED, format: 'MSG' },
  ],
  pushToApp: [
    (client) => client.pushToApp(Buffer.from([0, 255]), { format: 'HEX' }),
    ...(['POST', 'app/push/message/', { message: '00ff', format: 'HEX' }] as const),
  ],
  uploadHistory: [(client) => client.uploadHistory(LONG), 'GET', `up_messages/dev/${LONG}/`],
  pushHistory: [(client) => client.pushHistory(LONG), 'GET', `push_messages/dev/${LONG}/`],
  // The end day is requested once more.
  appHistory: [
    (client) => client.appHistory('20260101', '2026-12-31'),
    ...(['GET', 'sync/20260101/20261231/'] as const),
  ],
  rtStatus: [(client) => client.rtStatus(LONG, KEY), 'GET', `rt_status/${LONG}/`, { key: KEY }],
  gpioStatus: [(client) => client.gpioStatus(LONG), 'GET', `gpio_status/${LONG}/`],
  setGpioEdge: [
    (client) => client.setGpioEdge(LONG, '5', 'on'),
    ...(['POST', `set_gpio_edge/${LONG}/5/1/`] as const),
  ],
  refresh: [(client) => client.refresh(LONG), 'GET', `manual_refresh/${LONG}/`],
  reboot: [(client) => client.reboot(LONG), 'POST', `reboot/dev/${LONG}/`],
};

describe('a call of the open API, as the strict simulator receives it', () => {
  for (const [call, [run, method, path, more = {}]] of Object.entries(CASES)) {
    it(`${call} is ${method} ${path}, signed, and accepted`, async () => {
      const service = await simulator({ devices: [{ chipid: LONG, callbacks: { [KEY]: true } }] });
      await run(clientOf(service.baseUrl, { now: () => 1_700_000_000_999 }));
      assert.equal(service.requests.length, call === 'appHistory' ? 2 : 1);
      const request = service.requests[0]!;
      assert.equal(request.status, 200);
      assert.equal(request.method, method);
      assert.equal(request.path, `/openapi/${path}`);

      const common = { appid: KEYS.appid, timestamp: '1700000000' };
      const sign = signByHand(method, { ...common, ...more }, KEYS.appkey);
      const [query, form] = method === 'GET' ? [more, {}] : [{}, more];
      const sent = Object.fromEntries(new URLSearchParams(request.query));
      assert.deepEqual(sent, { ...common, sign, ...query });
      assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), form);

      const { headers } = request;
      assert.equal(headers['user-agent'], USER_AGENT);
      const type = method === 'POST' ? 'application/x-www-form-urlencoded' : undefined;
      assert.equal(headers['content-type'], type);
      assert.equal(headers['accept-encoding'], undefined, 'no compressed answer is asked for');
      assert.ok(!JSON.stringify(request).toLowerCase().includes(KEYS.appkey.toLowerCase()));
    });
  }
});

const CHIPID = 10000001;

describe('the results of calls of the open API', () => {
  it('devices: records with every field, a NUL in the devkey and a name of null included', async () => {
    const service = await simulator({ devices: [{ chipid: CHIPID, devkey: 'a\0b' }] });
    const { body } = await clientOf(service.baseUrl).devices();
    const { latest, ...record } = body[0]!;
    assert.match(latest, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
    assert.deepEqual(record, {
      chipid: CHIPID,
      name: null,
      devid: CHIPID,
      appid: 10001,
      vertype: 1,
      devkey: 'a\0b',
    });
  });

  it('push: the answer of the device, after it has received the bytes', async () => {
    const { service, client } = await simulated();
    assert.deepEqual(await client.push(CHIPID, 'grün 😀'), {
      statusCode: 200,
      body: { msg: 'OK' },
    });
    await client.push(CHIPID, Buffer.from([0, 255]), { format: 'HEX' });
    await client.push(CHIPID, Buffer.from([254, 0]), { format: 'B64' });
    await client.push(CHIPID, 'AT+RST', { format: 'AT' });
    await client.push(CHIPID, 'print(1)', { format: 'LUA' });
    assert.deepEqual(
      service
        .device(CHIPID)
        .received.map(({ format, bytes }) => `${format} ${bytes.toString('hex')}`),
      [
        `MSG ${Buffer.from('grün 😀').toString('hex')}`,
        ...['HEX 00ff', 'B64 fe00', 'AT 41542b525354', 'LUA 7072696e74283129'],
      ],
    );
  });

  it('push: 10 MB of text arrive whole', async () => {
    const service = await simulator();
    const text = 'ä&=%+'.repeat(1_750_000);
    await clientOf(service.baseUrl).push(CHIPID, text);
    assert.ok(service.device(CHIPID).received[0]?.text === text, 'the text is another one');
  });

  it('uploads, pushes and sync: the histories', async () => {
    const { service, client } = await simulated({ now: () => Date.parse('2026-02-28T04:00:00Z') });
    service.upload(CHIPID, 'up');
    await client.push(CHIPID, 'down');
    const uploads = (await client.uploadHistory(CHIPID)).body;
    assert.deepEqual(uploads, [
      {
        body: 'up',
        app: 'Simulator',
        create_time: '2026-02-28 12:00:00',
        id: 1,
        dev: String(CHIPID),
      },
    ]);
    const pushes = (await client.pushHistory(CHIPID)).body;
    assert.deepEqual([pushes[0]?.body, pushes[0]?.msgtype], ['down', 'MSG']);
    const synced = (await client.appHistory('20260228', '20260228')).body;
    assert.deepEqual([synced.length, synced[0]?.chipid], [1, String(CHIPID)]);
    assert.deepEqual((await client.appHistory('20260301', '20260302')).body, []);
  });

  it('rtStatus: the value of the callback, whatever its shape', async () => {
    const values: Record<string, unknown> = {
      text: 'on',
      no: false,
      object: { a: { b: null } },
    };
    const { client } = await simulated({
      devices: [{ chipid: CHIPID, callbacks: values }],
    });
    for (const [key, value] of Object.entries(values)) {
      assert.deepEqual((await client.rtStatus(CHIPID, key)).body, value, key);
    }
    const { message } = await failure(client.rtStatus(CHIPID, 'unknown'), 'NOT_FOUND');
    assert.match(message, /Check the key of the callback/);
  });
});

describe('a chip number of 20 digits', () => {
  it('loses no digit on its way to the service and back', async () => {
    const { service, client } = await simulated({ devices: [{ chipid: LONG }] });
    await client.push(LONG, 'x');
    assert.equal(service.device(LONG).received.length, 1);
    service.upload(LONG, 'y');
    const { body } = await client.devices();
    assert.deepEqual([body[0]?.chipid, body[0]?.devid], [LONG, LONG]);
    assert.equal((await client.app()).body.online[0]?.chipid, LONG);
    assert.equal((await client.uploadHistory(LONG)).body[0]?.dev, LONG);
  });
});
