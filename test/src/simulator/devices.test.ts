import assert from 'node:assert/strict';
import type { Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { nextEvent, openChannel, openGet, openPost, withSimulator } from './client';

interface Reading {
  temperature: number;
  humidity: number;
}

const temperatures = (simulator: Simulator, count: number): number[] =>
  Array.from({ length: count }, () => {
    const { bytes } = simulator.upload(10000001);
    return (JSON.parse(bytes.toString()) as Reading).temperature;
  });

describe('simulator: devices', () => {
  it(
    'upload readings automatically, and nothing while they are off and not in the list',
    withSimulator({ interval: 0.02, devices: 2 }, async (simulator) => {
      const event = (await nextEvent(await openChannel(simulator, '10000002'))) as { body: string };
      const reading = JSON.parse(Buffer.from(event.body, 'base64').toString()) as Reading;
      assert.deepEqual(Object.keys(reading), ['temperature', 'humidity']);
      simulator.switchOff(10000001);
      const { body } = await openGet(simulator, 'devices/list/');
      assert.deepEqual(
        (body as { chipid: number }[]).map(({ chipid }) => chipid),
        [10000002],
      );
      const off = simulator.device(10000001).uploads.length;
      const { length } = simulator.device(10000002).uploads;
      await until(() => simulator.device(10000002).uploads.length > length + 2);
      assert.equal(simulator.device(10000001).uploads.length, off);
      simulator.switchOn(10000001);
      await until(() => simulator.device(10000001).uploads.length > off);
    }),
  );

  it(
    'get cooler while the relay on pin 5 is high, and slowly warmer when it is low',
    withSimulator({}, async (simulator) => {
      const relay = (level: string) => openPost(simulator, `set_gpio_edge/10000001/5/${level}/`);
      const temperature = Number(simulator.device(10000001).reading['temperature']);
      await relay('1');
      const cooled = temperatures(simulator, 10).at(-1) ?? NaN;
      assert.ok(cooled < temperature - 2, `${temperature} to ${cooled}`);
      await relay('0');
      const warmed = temperatures(simulator, 10).at(-1) ?? NaN;
      assert.ok(warmed > cooled + 0.5, `${cooled} to ${warmed}`);
    }),
  );

  it(
    'have pins that somebody changes at the device, which is no call that has set them',
    withSimulator({}, async (simulator) => {
      simulator.setPin(10000001, 5, 1);
      const { levels, sets } = simulator.device(10000001);
      assert.deepEqual([levels[5], sets], ['1', []]);
      await openPost(simulator, 'set_gpio_edge/10000001/7/1/');
      const [set] = simulator.device(10000001).sets;
      assert.deepEqual([set?.pin, set?.level], [7, 1]);
    }),
  );
});
