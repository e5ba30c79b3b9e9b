import assert from 'node:assert/strict';
import type { FaultName } from '../../../src/simulator';
import { nextFrame, openChannel, openGet, push, withSimulator } from './client';

const DEVICE = '10000001';

// What each fault does to a client and to nodes is tested there, with these names.
describe('simulator: faults', () => {
  const statuses: [FaultName, number][] = [
    ['bad-request', 400],
    ['unauthorized', 401],
    ['forbidden', 403],
    ['not-found', 404],
    ['too-many', 429],
    ['server-error', 500],
    ['gateway', 502],
    ['gateway-timeout', 504],
    ['odd-status', 299],
    ['no-gateway', 200],
  ];
  const bodies: [FaultName, RegExp][] = [
    ['empty', /^$/],
    ['html', /^<!doctype html>/],
    ['null', /^null$/],
    ['array', /^\["OK"\]$/],
    ['broken-json', /^\[\{"msg":"OK"$/],
  ];
  it(
    'put another status or body in place of an answer',
    withSimulator({}, async (simulator) => {
      for (const [name, status] of statuses) {
        simulator.fail(name, { times: 1 });
        const reply = await openGet(simulator, 'devices/list/');
        assert.equal(reply.status, status, name);
        assert.match(reply.text, /^\{"msg":/, name);
      }
      for (const [name, text] of bodies) {
        simulator.fail(name, { times: 1 });
        assert.match((await openGet(simulator, 'devices/list/')).text, text, name);
      }
      assert.equal((await openGet(simulator, 'devices/list/')).status, 200);
    }),
  );

  it(
    'end the connection before the answer or within it',
    withSimulator({}, async (simulator) => {
      for (const name of ['reset', 'reset-in-body', 'truncated'] as const) {
        simulator.fail(name, { times: 1 });
        await assert.rejects(openGet(simulator, 'apps/'), TypeError, name);
      }
      assert.equal((await openGet(simulator, 'apps/')).status, 200);
    }),
  );

  it(
    'affect only the device, the path and the number of requests that were named',
    withSimulator({}, async (simulator) => {
      simulator.fail('gateway', { times: 1, chipid: 10000002, path: 'dev/push' });
      assert.equal((await push(simulator, DEVICE, 'x')).status, 200);
      assert.equal((await openGet(simulator, 'gpio_status/10000002/')).status, 200);
      assert.equal((await push(simulator, '10000002', 'x')).status, 502);
      assert.equal((await push(simulator, '10000002', 'x')).status, 200);
    }),
  );

  it(
    'leave the device alone, unless it is to act before the answer goes wrong',
    withSimulator({}, async (simulator) => {
      simulator.fail('gateway', { times: 1 });
      await push(simulator, DEVICE, 'never seen');
      simulator.fail('reset', { times: 1, acts: true });
      await assert.rejects(push(simulator, DEVICE, 'seen'), TypeError);
      assert.deepEqual(
        simulator.device(DEVICE).received.map(({ text }) => text),
        ['seen'],
      );
    }),
  );

  it(
    'can be lifted one by one or all at once',
    withSimulator({}, async (simulator) => {
      const status = async () => (await openGet(simulator, 'apps/')).status;
      const lift = simulator.fail('gateway');
      simulator.fail('server-error');
      assert.equal(await status(), 502);
      lift();
      assert.equal(await status(), 500);
      simulator.heal();
      assert.equal(await status(), 200);
      assert.throws(() => simulator.fail('flood' as FaultName), /no fault flood.*gateway, /);
    }),
  );

  it(
    'send another frame in place of an event, and the upload is kept',
    withSimulator({}, async (simulator) => {
      const socket = await openChannel(simulator, DEVICE);
      simulator.fail('missing-fields', { times: 1 });
      const frame = nextFrame(socket);
      simulator.upload(DEVICE, 'lost');
      assert.equal(await frame, '{"type":"data_upload"}');
      assert.equal(simulator.device(DEVICE).uploads.length, 1);
    }),
  );
});
