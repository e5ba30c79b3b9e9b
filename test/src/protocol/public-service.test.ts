import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import type { ErrorCode } from '../../../src/errors';
import type { ClientOptions } from '../../../src/settings';
import type { Simulator } from '../../../src/simulator';
import { clientOf, keysOf, simulator } from '../support/client';
import { failure } from '../support/failure';
import { PUBLIC_DIALECT } from '../../tooling/dialect';
import { httpService, inSequence, json } from '../../tooling/servers/http-service';

const CHIPID = '10000001';
const GONE = '10000002';

/** What a callback answers, and the value that it is. */
const VALUES: readonly [text: string, value: unknown][] = [
  ['HELLO', 'HELLO'],
  ['25,60', '25,60'],
  ['{"t":21,"h":40}', { t: 21, h: 40 }],
  ['"quoted"', 'quoted'],
  ['null', null],
  ['12345678901234567890', '12345678901234567890'],
  ['007', '007'],
  ['{"t":21', '{"t":21'],
  [' \r\n', ' \r\n'],
];

describe('a service that answers as the public server of 2016', () => {
  let service: Simulator;
  const client = (options: Partial<ClientOptions> = {}): DeviceCloudClient =>
    clientOf(service.baseUrl, { ...keysOf(PUBLIC_DIALECT), ...options });

  beforeEach(async () => {
    const callbacks = Object.fromEntries(VALUES.map(([text], at) => [`k${at}`, text]));
    const devices = [{ chipid: CHIPID, callbacks }, { chipid: GONE }];
    service = await simulator({ dialect: PUBLIC_DIALECT, devices });
    service.switchOff(GONE);
  });

  const now = (): number => Date.now() - 2 * 3_600_000;
  const refusals: [what: string, options: Partial<ClientOptions>, advice: RegExp][] = [
    ['a wrong key', { appkey: 'x'.repeat(32) }, /"签名不正确".*app key/],
    ['an unknown application', { appid: '4321' }, /"设备类别不存在".*application id/],
    ['a clock that is behind', { now }, /"时间间隔大于一小时".*clock/],
  ];
  for (const [what, options, advice] of refusals) {
    it(`refuses ${what} as 400, which is UNAUTHORIZED`, async () => {
      const refused = client(options);
      for (const call of [refused.app(), refused.push(CHIPID, 'x'), refused.refresh(CHIPID)]) {
        const error = await failure(call, 'UNAUTHORIZED');
        assert.deepEqual([error.statusCode, error.uncertain], [400, false]);
        assert.match(error.message, advice);
      }
    });
  }

  it("refuses another application's device as 400, or 404 with MSG: both are NOT_FOUND", async () => {
    const reboot = await failure(client().reboot(1), 'NOT_FOUND');
    assert.equal(reboot.statusCode, 400);
    assert.match(reboot.message, /"无设备对应操作权限！".*number of the device/);
    const uploads = await failure(client().uploadHistory(1), 'NOT_FOUND');
    assert.equal(uploads.statusCode, 404);
    assert.match(uploads.message, /device 1 failed: "没有设备/);
  });

  it('refuses an empty push as 403, which is BAD_REQUEST', async () => {
    const { baseUrl } = await httpService(json({ msg: '消息不能为空' }, 403));
    for (const call of [client().pushToApp(''), clientOf(baseUrl).push(1, '')]) {
      const error = await failure(call, 'BAD_REQUEST');
      assert.equal(error.statusCode, 403);
      assert.match(error.message, /empty/);
    }
  });

  it('accepts a push to all with sucess, and B64 not at all, with another msg', async () => {
    assert.deepEqual(await client().pushToApp('x'), { statusCode: 200, body: { msg: 'sucess' } });
    await failure(client().pushToApp('QUJD', { format: 'B64' }), 'NOT_ACCEPTED');
  });

  it('answers at once for a device that is not connected: it may be offline', async () => {
    for (const call of [client().push(GONE, 'x'), client().reboot(GONE)]) {
      const { message } = await failure(call, 'GATEWAY');
      assert.match(
        message,
        /^GATEWAY: the cloud could not reach the device \(50[24]\)\. .*"设备未连接.*"\. It may be offline/,
      );
    }
    const { body } = await client().refresh(GONE);
    assert.deepEqual(body, { status: 'offline', msg: 'OK' });
  });

  it('lists the devices at the second spelling, also after a reading that failed there', async () => {
    const one = client();
    service.fail('no-gateway', { times: 2, path: 'lists' });
    for (let call = 0; call < 2; call++) {
      const { message } = await failure(one.devices(), 'INVALID_RESPONSE');
      assert.match(message, /failed: "网关没有应答/);
    }
    assert.equal((await one.devices()).body.length, 1);
    assert.deepEqual(
      service.requests.map(({ path }) => path.replace('/openapi/devices/', '')),
      ['list/', 'lists/', 'lists/', 'lists/'],
    );
  });

  it('answers U+0000 to a command that is done; another character is a warning and no error', async () => {
    const one = client();
    const [done, doubtful] = [5, 6].map((pin) => [
      one.setGpioEdge(CHIPID, pin, 1),
      one.pulseGpio(CHIPID, pin, 1, { duration: 1 }),
    ]);
    for (const call of [...(done ?? []), one.reboot(CHIPID)])
      assert.deepEqual(await call, { statusCode: 200, body: { result: '\0' } });
    for (const call of doubtful ?? []) {
      const { body, warning } = await call;
      assert.deepEqual(body, { result: '\u0001' });
      assert.match(warning ?? '', /^Setting pin 6 to [01] on device .*10000001.* .*U\+0001/);
    }
  });

  it('answers the value of a callback as text, whatever it looks like', async () => {
    for (const [at, [text, value]] of VALUES.entries()) {
      const answer = await client().rtStatus(CHIPID, `k${at}`);
      assert.deepEqual(answer, { statusCode: 200, body: value });
      const plain = await client().rtStatus(CHIPID, `k${at}`, { datatype: 'utf8' });
      assert.equal(plain.body, text);
    }
  });

  it('answers text where JSON is required, or nothing: INVALID_RESPONSE', async () => {
    const call = client().rtStatus(CHIPID, 'k0', { datatype: 'json' });
    assert.match((await failure(call, 'INVALID_RESPONSE')).message, /not JSON.*key.*auto-detect/);
    for (const datatype of ['auto-detect', 'utf8', 'json'] as const) {
      const none = client().rtStatus(CHIPID, 'none', { datatype });
      const { message } = await failure(none, 'INVALID_RESPONSE');
      assert.match(message, /empty.*key/);
      assert.doesNotMatch(message, /portal/);
    }
  });
});

describe('a pulse', () => {
  for (const [first, second] of [
    ['\u0002', '\0'],
    ['\0', '\u0002'],
  ] as const) {
    it(`has a warning if its results are ${JSON.stringify([first, second])}`, async () => {
      const script = inSequence(json({ result: first }), json({ result: second }));
      const { baseUrl } = await httpService(script);
      const answer = await clientOf(baseUrl).pulseGpio(1, 5, 1, { duration: 1 });
      assert.deepEqual(answer.body, { result: second });
      const level = first === '\0' ? 0 : 1;
      assert.match(answer.warning ?? '', new RegExp(`Setting pin 5 to ${level} .*U\\+0002`));
    });
  }
});

describe('a result of a command', () => {
  for (const result of ['OK', '', '1', '\u0001\u0001', '好']) {
    it(`is no warning as ${JSON.stringify(result)}`, async () => {
      const { baseUrl } = await httpService(json({ result }));
      const answer = { statusCode: 200, body: { result } };
      assert.deepEqual(await clientOf(baseUrl).reboot(1), answer);
    });
  }
});

describe('a 400', () => {
  const texts: [text: string, ErrorCode][] = [
    ['签名不正确', 'UNAUTHORIZED'],
    ['签名错误', 'UNAUTHORIZED'],
    ['设备类别不存在', 'UNAUTHORIZED'],
    ['时间间隔大于一小时', 'UNAUTHORIZED'],
    ['无设备对应操作权限！', 'NOT_FOUND'],
    [' 无设备对应操作权限! ', 'NOT_FOUND'],
    ['设备类别APP错误', 'BAD_REQUEST'],
    ['设备类别APP格式错误', 'BAD_REQUEST'],
    ['时间戳参数错误', 'BAD_REQUEST'],
    ['时间戳必须为整数', 'BAD_REQUEST'],
    ['something else', 'BAD_REQUEST'],
    ['签名不正确 somewhere in a longer text', 'BAD_REQUEST'],
  ];
  for (const [text, code] of texts) {
    it(`is ${code} with ${JSON.stringify(text)}, as msg and as MSG`, async () => {
      for (const body of [{ msg: text }, { MSG: text }]) {
        const { baseUrl } = await httpService(json(body, 400));
        const { message } = await failure(clientOf(baseUrl).push(1, 'x'), code);
        assert.ok(message.includes(text.trim()), message);
      }
    });
  }

  it('means something only with the status 400', async () => {
    const { baseUrl } = await httpService(json({ msg: '签名不正确' }, 409));
    await failure(clientOf(baseUrl).push(1, 'x'), 'UNEXPECTED_STATUS');
  });
});
