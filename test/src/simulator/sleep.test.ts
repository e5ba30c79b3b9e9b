import assert from 'node:assert/strict';
import { mock } from 'node:test';
import type { Simulator } from '../../../src/simulator';
import { Device } from '../../../src/simulator/device';
import { readDevice } from '../../../src/simulator/device-options';
import { readOptions } from '../../../src/simulator/options';
import { Timers } from '../../../src/simulator/timers';
import { until } from '../../../tooling/until';
import { nextEvent, openChannel, openGet, openPost, push, withSimulator } from './client';

const listed = async (simulator: Simulator): Promise<number[]> => {
  const { body } = await openGet(simulator, 'devices/list/');
  return (body as { chipid: number }[]).map(({ chipid }) => chipid);
};

describe('simulator: devices that sleep', () => {
  it('wake periodically, and begin awake', () => {
    mock.timers.enable({ apis: ['setTimeout'] });
    const timers = new Timers();
    try {
      const log: string[] = [];
      const options = readDevice({ chipid: 1, sleep: { awake: 2, every: 600 } });
      const device = new Device(options, 1, readOptions({}), timers, {
        onConnect: () => void log.push('connects'),
        onWake: () => void log.push('wakes'),
      });
      mock.timers.tick(1999);
      assert.deepEqual([device.asleep, log], [false, []]);
      mock.timers.tick(1);
      assert.deepEqual([device.asleep, device.departures, log], [true, 1, []]);
      mock.timers.tick(597_999);
      assert.equal(device.asleep, true);
      mock.timers.tick(1);
      assert.deepEqual([device.asleep, log], [false, ['connects', 'wakes']]);
      mock.timers.tick(1000);
      device.wake();
      mock.timers.tick(1999);
      assert.equal(device.asleep, false);
      mock.timers.tick(1);
      assert.deepEqual([device.asleep, device.departures], [true, 2]);
    } finally {
      timers.close();
      mock.timers.reset();
    }
  });

  it(
    'upload at once when they wake, are in the list only while awake, and keep their pins',
    withSimulator({ devices: 2 }, async (simulator) => {
      const channel = await openChannel(simulator, '10000001');
      await openPost(simulator, 'set_gpio_edge/10000001/3/1/');
      simulator.sleep(10000001);
      assert.deepEqual(
        [simulator.device(10000001).asleep, await listed(simulator)],
        [true, [10000002]],
      );
      const event = nextEvent(channel);
      simulator.wake(10000001);
      simulator.wake(10000001);
      assert.equal(((await event) as { chipid: string }).chipid, '10000001');
      assert.deepEqual(await listed(simulator), [10000001, 10000002]);
      const { uploads, levels, boots } = simulator.device(10000001);
      assert.deepEqual([uploads.length, levels[3], boots], [1, '1', 0]);
    }),
  );

  it(
    'answer nothing while they sleep, and nothing is kept for them',
    // Longer than `until` pauses between two looks.
    withSimulator({ offlineAfter: 200, answerDelay: 60_000 }, async (simulator) => {
      const underWay = openGet(simulator, 'gpio_status/10000001/');
      await until(() => simulator.device(10000001).inFlight === 1);
      simulator.sleep(10000001);
      assert.equal((await underWay).status, 504);
      assert.equal((await push(simulator, '10000001', 'on')).status, 504);
      simulator.delay(10000001, 0);
      simulator.wake(10000001);
      assert.deepEqual(simulator.device(10000001).received, []);
      assert.equal((await openGet(simulator, 'gpio_status/10000001/')).status, 200);
    }),
  );

  it(
    'flap with short times, and stop when they are removed',
    withSimulator({ devices: 0 }, async (simulator) => {
      const device = simulator.addDevice({ chipid: 7, sleep: { awake: 0.05, every: 0.1 } });
      await until(() => device.uploads.length > 3);
      simulator.removeDevice(7);
      simulator.addDevice({ chipid: 7 });
      assert.equal(simulator.device(7).asleep, false);
    }),
  );

  it(
    'sleep for as long as a push orders them to, and for no other text',
    withSimulator({}, async (simulator) => {
      const { received } = simulator.device(10000001);
      for (const text of ['{"sleep":-1}', '{"sleep":"1"}', '{"sleep"', 'sleep']) {
        await push(simulator, '10000002', text);
      }
      await push(simulator, '10000001', '{"sleep":0.2}');
      assert.equal(received.length, 1);
      await until(() => simulator.device(10000001).asleep);
      await until(() => simulator.device(10000001).uploads.length === 1);
      assert.equal(simulator.device(10000001).asleep, false);
      assert.equal(simulator.device(10000002).asleep, false);
    }),
  );

  it(
    'are awake after they were switched on again',
    withSimulator({}, (simulator) => {
      simulator.sleep(10000001);
      simulator.switchOff(10000001);
      simulator.wake(10000001);
      simulator.sleep(10000001);
      assert.equal(simulator.device(10000001).uploads.length, 0);
      simulator.switchOn(10000001);
      assert.equal(simulator.device(10000001).online, true);
      return Promise.resolve();
    }),
  );

  it(
    'lose their power by a handle or by a push, and boot with their pins low',
    withSimulator({ devices: 1 }, async (simulator) => {
      const device = simulator.device(10000001);
      for (const pull of [
        () => Promise.resolve(simulator.unplug(10000001, 0.01)),
        () => push(simulator, '10000001', '{"unplug":0.01}'),
      ]) {
        simulator.setPin(10000001, 3, 1);
        const { boots } = device;
        await pull();
        await until(() => device.boots > boots, 'it is back');
        assert.deepEqual([device.levels[3], device.online], ['0', true]);
      }
      simulator.unplug(10000001, 3600);
      assert.deepEqual(await listed(simulator), []);
      assert.throws(() => simulator.unplug(10000001, -1), /seconds/);
    }),
  );
});
