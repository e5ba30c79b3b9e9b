import assert from 'node:assert/strict';
import { ERROR_CODES, type ErrorCode } from '../../src/errors';
import type { FaultName } from '../../src/simulator';
import { freePort } from '../../tooling/servers/ports';
import { httpService, json } from '../../tooling/servers/http-service';
import { cloudApp, load, node } from './support/flow';
import { call, fail, post, send } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { until } from '../../tooling/until';
import { inEachDialect, isPublic } from '../../tooling/dialect';

/** A fault of an answer for each code, and the status on the message: which fault has which code is of src/. */
const FAULTS: [fault: FaultName, code: ErrorCode, statusCode: number | undefined][] = [
  ['bad-request', 'BAD_REQUEST', 400],
  ['unauthorized', 'UNAUTHORIZED', 401],
  ['not-found', 'NOT_FOUND', 404],
  ['redirect', 'REDIRECT', 302],
  ['too-many', 'UNEXPECTED_STATUS', 429],
  ['server-error', 'SERVER_ERROR', 500],
  ['gateway', 'GATEWAY', 502],
  ['html', 'INVALID_RESPONSE', 200],
  ['reset', 'CONNECTION_LOST', undefined],
  ['hang', 'TIMEOUT', undefined],
];

/** Codes that need more than a wrong answer; each has a separate test below. */
const OTHERS: ErrorCode[] = [
  'NOT_CONFIGURED',
  'INVALID_INPUT',
  'UNREACHABLE',
  'QUEUE_FULL',
  'NOT_CONNECTED',
  'NOT_ACCEPTED',
];

/** Those that one node alone, or one property, knows: see the tests of `when`, `request`, `latest` and kept commands. */
const ELSEWHERE: ErrorCode[] = ['CANCELLED', 'EXPIRED', 'NO_REPLY', 'NO_VALUE'];

inEachDialect('an error of a node', () => {
  useNodeRed();
  const chipid = '10000001';

  it('is provoked here for each code', () => {
    const provoked = new Set([...FAULTS.map(([, code]) => code), ...OTHERS, ...ELSEWHERE]);
    assert.deepEqual([...provoked].sort(), [...ERROR_CODES].sort());
  });

  for (const [fault, code, statusCode] of FAULTS) {
    it(`is ${code} for a device call with ${fault}, once, and the next message works`, async () => {
      const cloud = await startCloud();
      await load([cloudApp(cloud), node('reboot', code === 'TIMEOUT' ? { timeout: '2' } : {})]);
      const heal = cloud.fail(fault);
      const caught = await fail('reboot', { chipid, statusCode: 7 }, code);
      assert.equal(caught['statusCode'], statusCode);
      assert.match(caught.error.message, /10000001/);
      assert.equal(cloud.requests.length, 1);
      heal();
      const { payload } = await call('reboot', { chipid });
      assert.deepEqual(payload, { result: isPublic() ? '\u0000' : 'OK' });
    });
  }

  it("repeats the service's own words", async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
    cloud.fail('gateway');
    const { error } = await fail('push', { chipid, payload: 'x' }, 'GATEWAY');
    assert.match(error.message, /"the gateway failed"/);
  });

  it('is NOT_CONFIGURED without an application', async () => {
    await load([node('push', { app: undefined })]);
    await fail('push', { chipid, payload: 'x' }, 'NOT_CONFIGURED');
  });

  it('is INVALID_INPUT without a chip number', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('reboot')]);
    await fail('reboot', {}, 'INVALID_INPUT');
  });

  it('is UNREACHABLE if nothing listens at the address', async () => {
    const gone = { baseUrl: `http://127.0.0.1:${await freePort()}`, appid: '10001' };
    await load([cloudApp(gone), node('reboot'), node('devices')]);
    const { error } = await fail('reboot', { chipid }, 'UNREACHABLE');
    assert.match(error.message, /ECONNREFUSED/);
    assert.ok(!error.message.includes('127.0.0.1'));
    await fail('devices', {}, 'UNREACHABLE');
  });

  it('is QUEUE_FULL for message 102 to one device, from any node', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push'), node('reboot')]);
    cloud.fail('hang', { chipid });
    for (let n = 0; n < 101; n++) post('push', { chipid, payload: n });
    const caught = await fail('reboot', { chipid, statusCode: 200 }, 'QUEUE_FULL');
    assert.match(caught.error.message, /^QUEUE_FULL: 100 .*10000001/);
    assert.ok(!('statusCode' in caught));
    await call('push', { chipid: '10000002', payload: 'to another device' });
    await until(() => cloud.requests.length === 2, 'the first is under way');
  });

  it('is NOT_CONNECTED for a push over a channel that does not open', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push', { transport: 'channel', timeout: '1.5' })]);
    cloud.fail('refuse-upgrade');
    const { error } = await fail('push', { chipid, payload: 'x' }, 'NOT_CONNECTED');
    assert.match(error.message, /401/);
    assert.equal(cloud.device(chipid).received.length, 0);
  });

  it('is NOT_ACCEPTED for a push that is answered with a msg other than OK', async () => {
    const service = await httpService(json({ msg: 'FAIL' }));
    await load([cloudApp({ ...service, appid: '1' }), node('push')]);
    const caught = await fail('push', { chipid, payload: 'x' }, 'NOT_ACCEPTED');
    assert.match(caught.error.message, /10000001.*"FAIL"/);
    assert.equal(caught['statusCode'], 200);
    assert.equal(service.requests.length, 1);
  });

  it('is UNAUTHORIZED for a wrong key of the open API and of the server API', async () => {
    const cloud = await startCloud();
    const wrong = { appkey: 'Another-Key', serverKey: 'x', serverPassword: 'Another-Password' };
    await load([cloudApp(cloud), node('devices'), node('server')], { app: wrong });
    const refused = await fail('devices', {}, 'UNAUTHORIZED');
    assert.equal(refused['statusCode'], isPublic() ? 400 : 401);
    assert.equal((await fail('server', {}, 'UNAUTHORIZED'))['statusCode'], 401);
    const { error } = await send('devices', {});
    assert.ok(!String(error).includes('Another-Key'));
  });
});
