import assert from 'node:assert/strict';
import type { FaultName } from '../../../src/simulator';
import { httpService, inSequence, json, raw } from '../../tooling/servers/http-service';
import { cloudApp, load, node } from '../support/flow';
import { call } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CHIPID, codeOf, NOTHING, rowsOf, said, WORKS } from './row';

const row = rowsOf('answers');

const FAULTS: [fault: string, name: FaultName, code: string][] = [
  ['302', 'redirect', 'REDIRECT'],
  ['400', 'bad-request', 'BAD_REQUEST'],
  ['401', 'unauthorized', 'UNAUTHORIZED'],
  ['403', 'forbidden', 'UNAUTHORIZED'],
  ['404', 'not-found', 'NOT_FOUND'],
  ['429', 'too-many', 'UNEXPECTED_STATUS'],
  ['500', 'server-error', 'SERVER_ERROR'],
  ['502 with `msg`', 'gateway', 'GATEWAY'],
  ['504 with `msg`', 'gateway-timeout', 'GATEWAY'],
  ['5xx without a body', 'server-error-bare', 'SERVER_ERROR'],
  ['200 with html', 'html', 'INVALID_RESPONSE'],
  ['empty', 'empty', 'INVALID_RESPONSE'],
  ['`null`', 'null', 'INVALID_RESPONSE'],
  ['an array instead of an object', 'array', 'INVALID_RESPONSE'],
  ['truncated body', 'truncated', 'CONNECTION_LOST'],
  ['70 MB body', 'huge', 'INVALID_RESPONSE'],
  ['gzip bomb', 'gzip', 'INVALID_RESPONSE'],
  ['slow headers', 'slow-headers', 'TIMEOUT'],
  ['trickling body', 'trickle', 'TIMEOUT'],
];

const answers = FAULTS.map(([fault, name, code]) =>
  row(fault, `\`${code}\``, WORKS, async () => {
    const cloud = await startCloud();
    // A large answer takes a busy machine longer than the usual limit.
    const quick = { timeout: code === 'TIMEOUT' ? '2' : '60' };
    await load([cloudApp(cloud), node('reboot', quick)]);
    const heal = cloud.fail(name);
    const failed = await codeOf('reboot', { chipid: CHIPID });
    heal();
    await call('reboot', { chipid: CHIPID });
    return failed;
  }),
);

const push = { chipid: CHIPID, payload: 'x' };

const moved = row('301', '`REDIRECT`', WORKS, async () => {
  const service = await httpService(inSequence(json({ msg: 'moved' }, 301), json({ msg: 'OK' })));
  await load([cloudApp({ ...service, appid: '1' }), node('push')]);
  const failed = await codeOf('push', { ...push });
  await call('push', { ...push });
  return failed;
});

const large = row('50 MB body', NOTHING, `taken, since the limit is 64 MiB; ${WORKS}`, async () => {
  const body = `{"msg":"OK"${' '.repeat(50_000_000)}}`;
  const service = await httpService(inSequence(raw(body), json({ msg: 'OK' })));
  await load([cloudApp({ ...service, appid: '1' }), node('push', { timeout: '60' })]);
  const { payload } = await call('push', { ...push });
  assert.deepEqual(payload, { msg: 'OK' });
  await call('push', { ...push });
  return said();
});

export const ANSWERS = [moved, ...answers, large];
