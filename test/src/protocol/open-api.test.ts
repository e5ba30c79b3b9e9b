import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import type { RequestRecord, Simulator } from '../../../src/simulator';
import { USER_AGENT } from '../../../src/protocol/signing';
import { clientOf, KEYS, simulator } from '../support/client';
import { signByHand } from '../../tooling/sign-by-hand';

const LONG = '18446744073709551615';

interface Case {
  call: string;
  run: (client: DeviceCloudClient) => Promise<unknown>;
  method: 'GET' | 'POST';
  path: string;
  /** Beyond the common parameters. */
  query?: Record<string, string>;
  form?: Record<string, string>;
}

const CASES: Case[] = [
  { call: 'app', run: (client) => client.app(), method: 'GET', path: 'apps/' },
  { call: 'devices', run: (client) => client.devices(), method: 'GET', path: 'devices/list/' },
  {
    call: 'push',
    run: (client) => client.push(LONG, 'A&B=C%20+ä', { format: 'MSG' }),
    method: 'POST',
    path: 'dev/push/message/',
    form: { devid: LONG, message: 'A&B=C%20+ä', format: 'MSG' },
  },
  {
    call: 'pushToApp',
    run: (client) => client.pushToApp(Buffer.from([0, 255]), { format: 'HEX' }),
    method: 'POST',
    path: 'app/push/message/',
    form: { message: '00ff', format: 'HEX' },
  },
  {
    call: 'uploadHistory',
    run: (client) => client.uploadHistory(LONG),
    method: 'GET',
    path: `up_messages/dev/${LONG}/`,
  },
  {
    call: 'pushHistory',
    run: (client) => client.pushHistory(LONG),
    method: 'GET',
    path: `push_messages/dev/${LONG}/`,
  },
  {
    call: 'appHistory',
    run: (client) => client.appHistory('20260101', '2026-12-31'),
    method: 'GET',
    path: 'sync/20260101/20261231/',
  },
  {
    call: 'rtStatus',
    run: (client) => client.rtStatus(LONG, 'Key & ä+%'),
    method: 'GET',
    path: `rt_status/${LONG}/`,
    query: { key: 'Key & ä+%' },
  },
  {
    call: 'gpioStatus',
    run: (client) => client.gpioStatus(LONG),
    method: 'GET',
    path: `gpio_status/${LONG}/`,
  },
  {
    call: 'setGpioEdge',
    run: (client) => client.setGpioEdge(LONG, '5', 'on'),
    method: 'POST',
    path: `set_gpio_edge/${LONG}/5/1/`,
  },
  {
    call: 'refresh',
    run: (client) => client.refresh(LONG),
    method: 'GET',
    path: `manual_refresh/${LONG}/`,
  },
  {
    call: 'reboot',
    run: (client) => client.reboot(LONG),
    method: 'POST',
    path: `reboot/dev/${LONG}/`,
  },
];

/** @param requests how many it makes: the first is returned */
async function requestOf(run: Case['run'], requests = 1): Promise<[RequestRecord, Simulator]> {
  const service = await simulator({
    devices: [{ chipid: LONG, callbacks: { 'Key & ä+%': true } }],
  });
  await run(clientOf(service.baseUrl, { now: () => 1_700_000_000_999 }));
  assert.equal(service.requests.length, requests);
  return [service.requests[0]!, service];
}

describe('a call of the open API, as the strict simulator receives it', () => {
  for (const { call, run, method, path, query = {}, form = {} } of CASES) {
    // The end day of a synchronisation is requested once more.
    const requests = call === 'appHistory' ? 2 : 1;
    it(`${call} is ${method} ${path}, signed, and accepted`, async () => {
      const [request] = await requestOf(run, requests);
      assert.equal(request.status, 200);
      assert.equal(request.method, method);
      assert.equal(request.path, `/openapi/${path}`);

      const common = { appid: KEYS.appid, timestamp: '1700000000' };
      const sign = signByHand(method, { ...common, ...query, ...form }, KEYS.appkey);
      const sent = Object.fromEntries(new URLSearchParams(request.query));
      assert.deepEqual(sent, { ...common, sign, ...query });
      assert.deepEqual(Object.fromEntries(new URLSearchParams(request.body)), form);

      const { headers } = request;
      assert.equal(headers['user-agent'], USER_AGENT);
      const type = method === 'POST' ? 'application/x-www-form-urlencoded' : undefined;
      assert.equal(headers['content-type'], type);
      assert.equal(headers['accept-encoding'], undefined, 'no compressed answer is asked for');
    });
  }

  it('carries the pushed text in the body and not in the address', async () => {
    const [request] = await requestOf((client) => client.push(LONG, 'in the body only'));
    assert.doesNotMatch(request.query, /body|message|format|devid/);
    assert.equal(new URLSearchParams(request.body).get('message'), 'in the body only');
  });

  it('never contains the app key', async () => {
    const [request] = await requestOf((client) => client.push(LONG, 'x'));
    assert.ok(!JSON.stringify(request).toLowerCase().includes(KEYS.appkey.toLowerCase()));
  });
});
