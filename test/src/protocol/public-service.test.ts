import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import type { ErrorCode } from '../../../src/errors';
import type { ClientOptions } from '../../../src/settings';
import { clientOf } from '../support/client';
import { failure } from '../support/failure';
import { httpService, inSequence, json } from '../../tooling/servers/http-service';
import {
  APPID,
  APPKEY,
  CONNECTED,
  GONE,
  publicService,
  type PublicService,
} from '../../tooling/servers/public-service';

describe('a service that answers as the public server of 2016', () => {
  let service: PublicService;
  const client = (options: Partial<ClientOptions> = {}): DeviceCloudClient =>
    clientOf(service.baseUrl, { appid: APPID, appkey: APPKEY, ...options });

  beforeEach(async () => {
    service = await publicService();
  });

  const refusals: [what: string, ClientOptions['appid'], string, hours: number, advice: RegExp][] =
    [
      ['a wrong key', APPID, 'x'.repeat(32), 0, /"签名不正确".*app key/],
      ['an unknown application', '4321', APPKEY, 0, /"设备类别不存在".*application id/],
      ['a clock that is behind', APPID, APPKEY, -2, /"时间间隔大于一小时".*clock/],
    ];
  for (const [what, appid, appkey, hours, advice] of refusals) {
    it(`refuses ${what} as 400, which is UNAUTHORIZED`, async () => {
      const now = (): number => Date.now() + hours * 3_600_000;
      const refused = client({ appid: appid ?? '', appkey, now });
      for (const call of [
        refused.app(),
        refused.push(CONNECTED, 'x'),
        refused.refresh(CONNECTED),
      ]) {
        const error = await failure(call, 'UNAUTHORIZED');
        assert.equal(error.statusCode, 400);
        assert.equal(error.uncertain, false);
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
    assert.match(uploads.message, /"无设备对应操作权限！"/);
  });

  it('refuses an empty push as 403, which is BAD_REQUEST, to one and to all', async () => {
    for (const call of [client().push(CONNECTED, ''), client().pushToApp('')]) {
      const error = await failure(call, 'BAD_REQUEST');
      assert.equal(error.statusCode, 403);
      assert.match(error.message, /"消息不能为空".*empty/);
    }
  });

  it('accepts a push to all with sucess', async () => {
    assert.deepEqual(await client().pushToApp('x'), { statusCode: 200, body: { msg: 'sucess' } });
  });

  it('does not accept B64, with another msg', async () => {
    const call = client().push(CONNECTED, 'QUJD', { format: 'B64' });
    assert.match((await failure(call, 'NOT_ACCEPTED')).message, /"格式错误"/);
  });

  it('answers at once for a device that is not connected: it may be offline', async () => {
    for (const call of [client().push(GONE, 'x'), client().reboot(GONE)]) {
      const { message } = await failure(call, 'GATEWAY');
      assert.match(
        message,
        /^GATEWAY: the cloud could not reach the device \(50[24]\)\. .*"设备不在线"\. It may be offline/,
      );
    }
    const { body } = await client().refresh(GONE);
    assert.deepEqual(body, { status: 'offline', msg: 'OK' });
  });

  it('lists the devices at the second spelling, also after a reading that failed there', async () => {
    const one = client();
    service.gateway = false;
    for (let call = 0; call < 2; call++) {
      const { message } = await failure(one.devices(), 'INVALID_RESPONSE');
      assert.match(message, /failed: "网关错误"/);
    }
    service.gateway = true;
    assert.equal((await one.devices()).body.length, 1);
    assert.deepEqual(
      service.requests.map(({ path }) => path.replace('/openapi/devices/', '')),
      ['list/', 'lists/', 'lists/', 'lists/'],
    );
  });

  it('gives the levels of pins 0 to 5, 9, 10 and 12 to 15 as control characters', async () => {
    service.high = new Set([4, 9, 12, 15]);
    const one = client();
    const { result } = (await one.gpioStatus(CONNECTED)).body;
    assert.equal(result, '\0\0\0\0\u0001\0\u0001\0\u0001\0\0\u0001');
    const levels = one.pinLevels(result);
    assert.deepEqual(
      [...levels].filter(([, level]) => level === 1).map(([pin]) => pin),
      [4, 9, 12, 15],
    );
    assert.equal(levels.get(13), 0);
    assert.equal(levels.has(6), false);
  });

  it('answers U+0000 to a command that is done', async () => {
    const answer = { statusCode: 200, body: { result: '\0' } };
    assert.deepEqual(await client().setGpioEdge(CONNECTED, 5, 1), answer);
    assert.deepEqual(await client().reboot(CONNECTED), answer);
    const pulse = await client().pulseGpio(CONNECTED, 5, 1, { duration: 1 });
    assert.deepEqual(pulse, answer);
  });

  it('may answer another character, which is a warning and no error', async () => {
    service.result = 1;
    const one = client();
    const pulse = one.pulseGpio(CONNECTED, 5, 1, { duration: 1 });
    for (const call of [one.setGpioEdge(CONNECTED, 5, 1), one.reboot(CONNECTED), pulse]) {
      const { body, warning } = await call;
      assert.deepEqual(body, { result: '\u0001' });
      assert.match(warning ?? '', /^(Setting pin 5 to [01] on|Rebooting) device 8454703 .*U\+0001/);
    }
  });

  it('answers the value of a callback as text, whatever it looks like', async () => {
    const values: [text: string | Buffer, value: unknown][] = [
      ['HELLO', 'HELLO'],
      ['25,60', '25,60'],
      ['21.5', 21.5],
      ['{"t":21,"h":40}', { t: 21, h: 40 }],
      ['"quoted"', 'quoted'],
      ['null', null],
      ['12345678901234567890', '12345678901234567890'],
      ['007', '007'],
      ['{"t":21', '{"t":21'],
      [' \r\n', ' \r\n'],
      ['温度', '温度'],
    ];
    for (const [text, value] of values) {
      service.callbacks.set('k', text);
      const answer = await client().rtStatus(CONNECTED, 'k');
      assert.deepEqual(answer, { statusCode: 200, body: value });
      const plain = await client().rtStatus(CONNECTED, 'k', { datatype: 'utf8' });
      assert.equal(plain.body, text);
    }
  });

  it('answers text where JSON is required, or nothing: INVALID_RESPONSE', async () => {
    service.callbacks.set('text', 'HELLO');
    const call = client().rtStatus(CONNECTED, 'text', { datatype: 'json' });
    assert.match((await failure(call, 'INVALID_RESPONSE')).message, /not JSON.*key.*auto-detect/);
    for (const datatype of ['auto-detect', 'utf8', 'json'] as const) {
      const none = client().rtStatus(CONNECTED, 'none', { datatype });
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
  for (const result of ['OK', '', '1', 'A', '\0\0', '\u0001\u0001', '好', '\u2028']) {
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
