import assert from 'node:assert/strict';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { nextEvent, openChannel, openGet, openPost, withSimulator } from './client';
import { until } from '../../../tooling/until';

interface Reading {
  temperature: number;
  humidity: number;
}

const readings = (simulator: Simulator, count: number): Reading[] =>
  Array.from({ length: count }, () => {
    const { bytes } = simulator.upload(10000001);
    return JSON.parse(bytes.toString()) as Reading;
  });

const temperatures = (simulator: Simulator, count: number): number[] =>
  readings(simulator, count).map(({ temperature }) => temperature);

describe('simulator: devices', () => {
  it(
    'upload readings automatically',
    withSimulator({ interval: 0.02 }, async (simulator) => {
      const event = (await nextEvent(await openChannel(simulator, '10000002'))) as { body: string };
      const reading = JSON.parse(Buffer.from(event.body, 'base64').toString()) as Reading;
      assert.deepEqual(Object.keys(reading), ['temperature', 'humidity']);
      await until(() => [...simulator.devices.values()].every(({ uploads }) => uploads.length > 1));
    }),
  );

  it(
    'upload at an interval of their own, or not at all',
    withSimulator(
      { interval: 0.01, devices: [{ chipid: 1 }, { chipid: 2, interval: 0 }] },
      async (simulator) => {
        await until(() => simulator.device(1).uploads.length > 2);
        assert.equal(simulator.device(2).uploads.length, 0);
      },
    ),
  );

  it(
    'upload nothing while they are off',
    withSimulator({ interval: 0.01, devices: 2 }, async (simulator) => {
      simulator.switchOff(10000001);
      const before = simulator.device(10000001).uploads.length;
      await until(() => simulator.device(10000002).uploads.length > 3);
      assert.equal(simulator.device(10000001).uploads.length, before);
      simulator.switchOn(10000001);
      await until(() => simulator.device(10000001).uploads.length > before);
    }),
  );

  it(
    'cross 25 °C now and then, in both directions, and stay plausible',
    withSimulator({}, (simulator) => {
      const walk = temperatures(simulator, 400);
      const crossings = walk.filter(
        (value, index) => value > 25 !== (walk[index - 1] ?? value) > 25,
      );
      assert.ok(crossings.length >= 6, `${crossings.length} crossings`);
      assert.ok(Math.min(...walk) > 15 && Math.max(...walk) < 35);
      const humid = readings(simulator, 100).map(({ humidity }) => humidity);
      assert.ok(Math.min(...humid) > 20 && Math.max(...humid) < 90);
      return Promise.resolve();
    }),
  );

  it(
    'get cooler while the relay on pin 5 is high, and slowly warmer when it is low',
    withSimulator({}, async (simulator) => {
      const relay = (level: string) => openPost(simulator, `set_gpio_edge/10000001/5/${level}/`);
      const { temperature } = simulator.device(10000001);
      await relay('1');
      const cooled = temperatures(simulator, 10).at(-1) ?? NaN;
      assert.ok(cooled < temperature - 2, `${temperature} to ${cooled}`);
      await relay('0');
      const warmed = temperatures(simulator, 10).at(-1) ?? NaN;
      assert.ok(warmed > cooled + 0.5, `${cooled} to ${warmed}`);
    }),
  );

  it('measure the same again with the same seed, and other values with another', async () => {
    const walk = async (seed: number): Promise<number[]> => {
      const simulator = await startSimulator({ interval: 0, seed });
      const values = temperatures(simulator, 20);
      await simulator.close();
      return values;
    };
    const once = await walk(5);
    assert.deepEqual(await walk(5), once);
    assert.notDeepEqual(await walk(6), once);
  });

  it(
    'come and go while the simulator runs',
    withSimulator({ devices: 1 }, async (simulator) => {
      const added = simulator.addDevice({ chipid: '12345678901234567890', name: 'Late' });
      assert.equal(added.chipid, '12345678901234567890');
      assert.match((await openGet(simulator, 'devices/list/')).text, /12345678901234567890/);
      assert.throws(() => simulator.addDevice({ chipid: 10000001 }), /10000001 is there twice/);
      simulator.removeDevice('12345678901234567890');
      const path = 'gpio_status/12345678901234567890/';
      assert.equal((await openGet(simulator, path)).status, 404);
    }),
  );

  it(
    'have their own pins, and a running time since the last boot',
    withSimulator({}, async (simulator) => {
      await openPost(simulator, 'set_gpio_edge/10000001/0/1/');
      simulator.switchOff(10000001);
      simulator.switchOn(10000001);
      assert.deepEqual(
        [simulator.device(10000001).levels[0], simulator.device(10000001).boots],
        ['0', 1],
      );
      const uptime = await openGet(simulator, 'rt_status/10000001/', { query: { key: 'uptime' } });
      assert.equal(uptime.body, 0);
    }),
  );

  it(
    'have pins that somebody changes at the device, which is no call that has set them',
    withSimulator({}, async (simulator) => {
      simulator.setPin(10000001, 5, 1);
      const { levels, sets } = simulator.device(10000001);
      assert.deepEqual([levels[5], sets], ['1', []]);
      const before = Date.now();
      await openPost(simulator, 'set_gpio_edge/10000001/5/0/');
      await openPost(simulator, 'set_gpio_edge/10000001/7/1/');
      const after = Date.now();
      const { sets: set } = simulator.device(10000001);
      assert.deepEqual(
        set.map(({ pin, level }) => [pin, level]),
        [
          [5, 0],
          [7, 1],
        ],
      );
      assert.ok(set.every(({ at }) => at >= before && at <= after));
      assert.throws(() => simulator.setPin(10000001, 16, 1), /pin/);
      assert.throws(() => simulator.setPin(99, 5, 1), /99/);
    }),
  );
});
