import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import { USER_AGENT } from '../../../src/protocol/signing';
import { clientOf, KEYS, simulator } from '../support/client';
import { signByHand } from '../../tooling/sign-by-hand';

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
