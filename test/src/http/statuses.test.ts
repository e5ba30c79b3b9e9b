import assert from 'node:assert/strict';
import type { ErrorCode } from '../../../src/errors';
import { KEYS, clientOf, serving, simulated } from '../support/client';
import { CHIPID } from '../support/listener';
import { failure, failures } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import { httpService, json, raw, type Script } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';

const CODES: [status: number, code: ErrorCode, advice: RegExp][] = [
  [400, 'BAD_REQUEST', /parameters/],
  [401, 'UNAUTHORIZED', /app key.*application id.*clock.*deleted/],
  [403, 'UNAUTHORIZED', /keys/],
  [404, 'NOT_FOUND', /number of the device.*application id/],
  [409, 'UNEXPECTED_STATUS', /address/],
  [429, 'UNEXPECTED_STATUS', /less often/],
  [204, 'UNEXPECTED_STATUS', /address/],
  [500, 'SERVER_ERROR', /later/],
  [599, 'SERVER_ERROR', /later/],
  [502, 'GATEWAY', /It may be offline/],
  [504, 'GATEWAY', /It may be offline/],
];

describe('a status that is no success', () => {
  for (const [status, code, advice] of CODES) {
    it(`${status} is ${code}: the call, the device, the service's words and what to do`, async () => {
      const service = await httpService(json({ msg: 'because of this' }, status));
      const error = await failure(clientOf(service.baseUrl).push(10000001, 'x'), code);
      assert.equal(error.statusCode, status);
      const what =
        code === 'GATEWAY'
          ? `the cloud could not reach the device (${status})`
          : `The service answered ${status}`;
      const start = `${code}: ${what}. Push to device 10000001 failed`;
      assert.ok(error.message.startsWith(start), error.message);
      if (status !== 204) assert.match(error.message, /"because of this"/);
      assert.match(error.message, advice);
      assert.equal(service.requests.length, 1, 'a command goes out once');
    });
  }

  it('names the device, and the remedy of a command that can wait for it, and only of that', async () => {
    const { service: cloud, client } = await simulated({ devices: 1 });
    await client.devices();
    cloud.fail('gateway');
    const remedy = /Send: when the device is online/;
    const title =
      /^GATEWAY: the cloud could not reach the device \(502\)\. \w.* device Greenhouse \(10000001\) failed: "/;
    const calls = [
      client.push(CHIPID, 'x'),
      client.setGpioEdge(CHIPID, 5, 1),
      client.reboot(CHIPID),
    ];
    for (const { message } of await failures(calls, 'GATEWAY')) {
      assert.match(message, remedy);
      assert.match(message, title);
    }
    const read = await failure(client.gpioStatus(CHIPID), 'GATEWAY');
    assert.doesNotMatch(read.message, remedy);
    cloud.heal();
    cloud.fail('gateway', { path: 'reboot' });
    // It has done what would be advised.
    const waited = await failure(client.reboot(CHIPID, { when: 'online' }), 'GATEWAY');
    assert.doesNotMatch(waited.message, remedy);
    cloud.heal();
    cloud.fail('gateway', { path: 'set_gpio_edge' });
    const pulse = await failure(client.pulseGpio(CHIPID, 5, 1, { when: 'online' }), 'GATEWAY');
    assert.doesNotMatch(pulse.message, remedy);
    cloud.fail('gateway', { path: 'push' });
    const asked = await failure(client.request(CHIPID, 'x', { match: 'next' }), 'GATEWAY');
    assert.doesNotMatch(asked.message, remedy);
    cloud.heal();
    cloud.fail('hang');
    const { length } = cloud.requests;
    const expire = heldTimers();
    const silent = failure(client.reboot(CHIPID, { timeout: HOUR }), 'TIMEOUT');
    await until(() => cloud.requests.length > length, 'it is sent');
    expire();
    assert.match((await silent).message, remedy);
  });

  for (const status of [301, 307]) {
    it(`${status} is REDIRECT and never followed`, async () => {
      const target = await httpService(json({ msg: 'OK' }));
      const headers = { location: `${target.baseUrl}/openapi/elsewhere/?a=b` };
      const { service, client } = await serving(raw('', status, headers));
      const error = await failure(client.push(1, 'x'), 'REDIRECT');
      assert.equal(error.statusCode, status);
      await failure(client.devices(), 'REDIRECT');
      assert.equal(service.requests.length, 2);
      assert.equal(target.connections(), 0);
    });
  }

  it('does not mention a device if the call has none, and does not wait for one', async () => {
    const { client } = await serving(json({ msg: 'm' }, 504));
    for (const call of [client.devices(), client.pushToApp('x'), client.serverUpdate('a', {})]) {
      assert.match(
        (await failure(call, 'GATEWAY')).message,
        /^GATEWAY: The service answered 504\. .* not available behind its gateway/,
      );
    }
    const unknown = await httpService(json({ msg: 'no such application' }, 404));
    const other = clientOf(unknown.baseUrl);
    for (const call of [other.app(), other.devices(), other.pushToApp('x')]) {
      const { message } = await failure(call, 'NOT_FOUND');
      assert.match(message, /Check the application id/);
      assert.doesNotMatch(message, /number of the device/);
    }
  });

  it('shows the status alone if the body is missing, not JSON, or without msg', async () => {
    for (const body of ['', '<html>', 'null', '{"msg":1}', '{"a":1}']) {
      const service = await httpService(raw(body, 400));
      const error = await failure(clientOf(service.baseUrl).push(1, 'x'), 'BAD_REQUEST');
      assert.match(
        error.message,
        /^BAD_REQUEST: The service answered 400\. Push to device 1 failed\. Check/,
      );
    }
  });

  it('fails at once even if its body is endless', async () => {
    const service = await httpService((response) => {
      response.writeHead(500);
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, ' ')));
      };
      response.on('drain', pour);
      pour();
    });
    await failure(clientOf(service.baseUrl).push(1, 'x'), 'SERVER_ERROR');
  });

  it('of the server API is reported in the same way, without the application id', async () => {
    const service = await httpService(json({ msg: 'no such device' }, 404));
    const error = await failure(clientOf(service.baseUrl).serverDevice('a-1'), 'NOT_FOUND');
    assert.match(error.message, /record of device a-1 failed.*"no such device".*device id/);
    assert.doesNotMatch(error.message, /application id/);
    const refusing = await httpService(json({ msg: 'no' }, 401));
    const refused = await failure(clientOf(refusing.baseUrl).serverDevices(), 'UNAUTHORIZED');
    assert.doesNotMatch(refused.message, /application id/);
    // What the public server says of the open API has no meaning here.
    const other = await httpService(json({ msg: '签名不正确' }, 400));
    await failure(clientOf(other.baseUrl).serverDevice('a-1'), 'BAD_REQUEST');
  });
});

describe('what a service repeats in its msg', () => {
  const say = async (msg: string): Promise<string> => {
    const service = await httpService(json({ msg }, 400));
    return (await failure(clientOf(service.baseUrl).push(1, 'x'), 'BAD_REQUEST')).message;
  };

  it('is shown without keys and passwords, in any case, on one line that is not endless', async () => {
    const { appkey, serverKey, serverPassword } = KEYS;
    const forms = [appkey, appkey.toLowerCase(), serverKey, serverPassword];
    const message = await say(`${forms.join(' ')} a\r\nb\0c\x1b[31m\u2028${'x'.repeat(10_000)}`);
    assert.match(message, /"\*\*\* \*\*\* \*\*\* \*\*\* a/);
    assert.doesNotMatch(message, /[\p{Cc}\u2028]/u);
    assert.ok(message.length < 600, `${message.length} characters`);
  });

  it('is shown without the signature and the signed address', async () => {
    const service = await httpService((response, { path, search, body }) => {
      json({ msg: `bad request ${path}?${search} ${body}` }, 400)(response, {} as never, 0);
    });
    const error = await failure(clientOf(service.baseUrl).push(1, 'x'), 'BAD_REQUEST');
    assert.match(error.message, /bad request .*sign=\*\*\*/);
  });
});

describe('an error of the server API, whose form is not shown', () => {
  const message = async (script: Script): Promise<string> => {
    const service = await httpService(script);
    return (await failure(clientOf(service.baseUrl).serverDevice('a'), 'BAD_REQUEST')).message;
  };

  const bodies: [body: string, shown: string][] = [
    ['{"msg":"no page"}', 'no page'],
    ['{\n  "errors": [\n    "no page"\n  ]\n}\n', '{ "errors": [ "no page" ] }'],
    ['{"msg":5}', '{"msg":5}'],
    ['{"error":"no page","msg":" "}', '{"error":"no page","msg":" "}'],
    ['no page\r\nno count\n', 'no page no count'],
    ['<h1>Bad request</h1>', '<h1>Bad request</h1>'],
  ];
  for (const [body, shown] of bodies) {
    it(`is repeated on one line: ${shown}`, async () => {
      const said = await message(raw(body, 400));
      const start = 'The service answered 400. Reading the record of device a failed:';
      assert.ok(said.includes(`${start} "${shown}". Check`), said);
    });
  }

  it('is repeated without secrets, and not whole if it is long', async () => {
    const { serverKey, serverPassword } = KEYS;
    const headers = JSON.stringify({ key: serverKey, password: serverPassword });
    const body = `{"request":${JSON.stringify(headers)},"more":"${'x'.repeat(100_000)}"}`;
    const said = await message(raw(body, 400));
    assert.match(said, /key.*\*\*\*.*password.*\*\*\*/);
    assert.ok(said.length < 600, `${said.length} characters`);
  });

  it('is repeated without a secret that contains white space', async () => {
    const serverPassword = 'Canary  \t Password';
    const service = await httpService(raw(`refused: ${serverPassword}\n.`, 400));
    const call = clientOf(service.baseUrl, { serverPassword }).serverDevice('a');
    assert.match((await failure(call, 'BAD_REQUEST')).message, /"refused: \*\*\* \."/);
  });

  it('is the status alone if the answer is empty or compressed', async () => {
    for (const script of [raw('', 400), raw('x', 400, { 'content-encoding': 'gzip' })]) {
      assert.match(
        await message(script),
        /^BAD_REQUEST: The service answered 400\. .* failed\. Check/,
      );
    }
  });
});
