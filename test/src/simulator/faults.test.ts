import assert from 'node:assert/strict';
import type { FaultName } from '../../../src/simulator';
import { nextFrame, openChannel, openGet, push, withSimulator } from './client';

const DEVICE = '10000001';

// What each fault does to a client and to nodes is tested there, with these names.
describe('simulator: faults', () => {
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
