import assert from 'node:assert/strict';
import { until } from '../../tooling/until';
import { nextEvent, openChannel, openGet, openPost, push, withSimulator } from './client';

describe('simulator: devices that sleep', () => {
  it(
    'wake by themselves, and sleep again',
    withSimulator({ devices: 0 }, async (simulator) => {
      const device = simulator.addDevice({ chipid: 7, sleep: { awake: 0.05, every: 0.1 } });
      assert.equal(device.asleep, false);
      await until(() => device.asleep);
      await until(() => device.uploads.length > 3);
    }),
  );

  it(
    'upload at once when they wake, are in the list only while awake, and keep their pins',
    withSimulator({ devices: 2 }, async (simulator) => {
      const listed = async (): Promise<number[]> => {
        const { body } = await openGet(simulator, 'devices/list/');
        return (body as { chipid: number }[]).map(({ chipid }) => chipid);
      };
      const channel = await openChannel(simulator, '10000001');
      await openPost(simulator, 'set_gpio_edge/10000001/3/1/');
      simulator.sleep(10000001);
      assert.deepEqual(await listed(), [10000002]);
      const event = nextEvent(channel);
      simulator.wake(10000001);
      assert.equal(((await event) as { chipid: string }).chipid, '10000001');
      assert.deepEqual(await listed(), [10000001, 10000002]);
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
    'sleep for as long as a push orders them to, and for no other text',
    withSimulator({}, async (simulator) => {
      await push(simulator, '10000002', '{"sleep":"1"}');
      await push(simulator, '10000001', '{"sleep":0.2}');
      await until(() => simulator.device(10000001).asleep);
      await until(() => simulator.device(10000001).uploads.length === 1);
      assert.equal(simulator.device(10000001).asleep, false);
      assert.equal(simulator.device(10000002).asleep, false);
    }),
  );

  it(
    'lose their power by a handle or by a push, and boot with their pins low',
    withSimulator({ devices: 1 }, async (simulator) => {
      const device = simulator.device(10000001);
      for (const pull of [
        () => Promise.resolve(simulator.switchOff(10000001, 0.01)),
        () => push(simulator, '10000001', '{"unplug":0.01}'),
      ]) {
        simulator.setPin(10000001, 3, 1);
        const { boots } = device;
        await pull();
        await until(() => device.boots > boots, 'it is back');
        assert.deepEqual([device.levels[3], device.online], ['0', true]);
      }
    }),
  );
});
