import assert from 'node:assert/strict';
import type { DeviceCloudClient } from '../../../src/client';
import type { ErrorCode } from '../../../src/errors';
import { clientOf, KEYS } from '../support/client';
import { failure } from '../support/failure';
import { heldTimers, HOUR } from '../../support/held-timers';
import {
  httpService,
  inSequence,
  json,
  raw,
  type Script,
} from '../../tooling/servers/http-service';
import { signByHand } from '../../tooling/sign-by-hand';
import { freePort } from '../../tooling/servers/ports';

type Call = (client: DeviceCloudClient) => Promise<unknown>;

const READS: Record<string, Call> = {
  app: (client) => client.app(),
  devices: (client) => client.devices(),
  uploads: (client) => client.uploadHistory(1),
  pushes: (client) => client.pushHistory(1),
  sync: (client) => client.appHistory('20260101', '20260101'),
  serverDevices: (client) => client.serverDevices(),
  serverDevice: (client) => client.serverDevice('a'),
  serverUploads: (client) => client.serverUploads({ page: 1 }),
};

const COMMANDS: Record<string, Call> = {
  push: (client) => client.push(1, 'x'),
  pushToApp: (client) => client.pushToApp('x'),
  rtStatus: (client) => client.rtStatus(1, 'key'),
  gpioStatus: (client) => client.gpioStatus(1),
  setGpioEdge: (client) => client.setGpioEdge(1, 1, 1),
  refresh: (client) => client.refresh(1),
  reboot: (client) => client.reboot(1),
  serverUpdate: (client) => client.serverUpdate('a', {}),
  serverPassthrough: (client) => client.serverPassthrough('a', {}),
};

const reset: Script = (response) => void response.socket?.destroy();

/** Failures after which a read is tried again, by name. */
const PASSING: Record<string, [script: Script, code: ErrorCode]> = {
  500: [json({ msg: 'm' }, 500), 'SERVER_ERROR'],
  502: [json({ msg: 'm' }, 502), 'GATEWAY'],
  'a reset': [reset, 'CONNECTION_LOST'],
};

/** Failures that another attempt would not change, by name. */
const LASTING: Record<string, [script: Script, code: ErrorCode]> = {
  400: [json({ msg: 'm' }, 400), 'BAD_REQUEST'],
  401: [json({ msg: 'm' }, 401), 'UNAUTHORIZED'],
  429: [json({ msg: 'm' }, 429), 'UNEXPECTED_STATUS'],
  302: [raw('', 302, { location: '/' }), 'REDIRECT'],
  'an answer that is not JSON': [raw('<html>'), 'INVALID_RESPONSE'],
};

describe('a read that only touches the cloud', () => {
  for (const [name, call] of Object.entries(READS)) {
    it(`${name} is tried again at most twice`, async () => {
      const service = await httpService(json({ msg: 'm' }, 503));
      await failure(call(clientOf(service.baseUrl)), 'SERVER_ERROR');
      assert.equal(service.requests.length, 3);
    });
  }

  for (const [name, [script, code]] of Object.entries(PASSING)) {
    it(`is tried again on ${name}, and returns the answer that follows`, async () => {
      const service = await httpService(inSequence(script, script, json([])));
      assert.deepEqual((await clientOf(service.baseUrl).uploadHistory(1)).body, []);
      assert.equal(service.requests.length, 3);
      const broken = await httpService(script);
      await failure(clientOf(broken.baseUrl).uploadHistory(1), code);
      assert.equal(broken.requests.length, 3);
    });
  }

  for (const [name, [script, code]] of Object.entries(LASTING)) {
    it(`is not tried again on ${name}`, async () => {
      const service = await httpService(script);
      await failure(clientOf(service.baseUrl).uploadHistory(1), code);
      assert.equal(service.requests.length, 1);
    });
  }

  it('is not tried again soon if the service asks to wait', async () => {
    const busy = await httpService(raw('', 503, { 'retry-after': '30' }));
    const patient = clientOf(busy.baseUrl, { timeout: HOUR });
    await failure(patient.uploadHistory(1), 'SERVER_ERROR');
    assert.equal(busy.requests.length, 1);
    const limited = await httpService(json({ msg: 'm' }, 429));
    const error = await failure(clientOf(limited.baseUrl).devices(), 'UNEXPECTED_STATUS');
    assert.match(error.message, /too many requests.*less often/);
    const soon = await httpService(inSequence(raw('', 503, { 'retry-after': '1' }), json([])));
    assert.deepEqual((await clientOf(soon.baseUrl).uploadHistory(1)).body, []);
  });

  it('is tried again if the service could not be reached', async () => {
    let attempts = 0;
    const now = (): number => 1_700_000_000_000 + 1000 * attempts++;
    const client = clientOf(`http://127.0.0.1:${await freePort()}`, { now });
    await failure(client.uploadHistory(1), 'UNREACHABLE');
    assert.equal(attempts, 3, 'each attempt is signed');
  });

  it('is signed freshly each time', async () => {
    let seconds = 1_700_000_000;
    const service = await httpService((response, request, count) => {
      seconds += 10;
      inSequence(reset, json({}, 502), json([]))(response, request, count);
    });
    const now = (): number => seconds * 1000;
    await clientOf(service.baseUrl, { now }).uploadHistory(1);
    const sent = service.requests.map(({ query }) => Object.fromEntries(query));
    const expected = ['1700000000', '1700000010', '1700000020'].map((timestamp) => {
      const common = { appid: KEYS.appid, timestamp };
      return { ...common, sign: signByHand('get', common, KEYS.appkey) };
    });
    assert.deepEqual(sent, expected);
  });

  it('is not tried again after its time limit', async () => {
    const service = await httpService(json({ msg: 'm' }, 503));
    const expire = heldTimers();
    // Asked for when the pause begins, which is longer than the time that is left.
    const random = (): number => {
      setImmediate(expire);
      return 1e6;
    };
    const client = clientOf(service.baseUrl, { random, timeout: HOUR });
    await failure(client.uploadHistory(1), 'SERVER_ERROR');
    assert.equal(service.requests.length, 1);
  });

  it('is not tried again if it is aborted in the pause', async () => {
    const controller = new AbortController();
    const service = await httpService(json({}, 503));
    // Asked for when the pause begins.
    const random = (): number => {
      setImmediate(() => controller.abort());
      return 1e6;
    };
    const client = clientOf(service.baseUrl, { random });
    await failure(client.uploadHistory(1, { signal: controller.signal }), 'SERVER_ERROR');
    assert.equal(service.requests.length, 1);
  });
});

describe('a call that reaches a device', () => {
  for (const [name, call] of Object.entries(COMMANDS)) {
    it(`${name} goes out exactly once, whatever happens`, async () => {
      for (const [script, code] of Object.values(PASSING)) {
        const service = await httpService(script);
        await failure(call(clientOf(service.baseUrl)), code);
        assert.equal(service.requests.length, 1);
      }
      const service = await httpService(json({ msg: 'OK', result: 'OK', status: 'online' }));
      await call(clientOf(service.baseUrl));
      assert.equal(service.requests.length, 1);
    });
  }
});
