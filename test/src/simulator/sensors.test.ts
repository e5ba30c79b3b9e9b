import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { BUILT_IN_DEVICES } from '../../../src/simulator';
import { openPost, withSimulator } from './client';

describe('simulator: kinds of devices', () => {
  it(
    'are climate, power, door and a probe, whose bytes are no text',
    withSimulator({ devices: BUILT_IN_DEVICES }, async (simulator) => {
      const names: Record<string, string> = {
        climate: 'temperature,humidity',
        power: 'power,voltage,energy',
        door: 'open,battery',
      };
      for (const { chipid, kind = 'climate' } of BUILT_IN_DEVICES) {
        const { bytes } = simulator.upload(chipid);
        if (kind === 'probe') {
          const { temperature, humidity } = simulator.device(chipid).reading;
          assert.equal(bytes.readInt16BE(1), Math.round(Number(temperature) * 100));
          assert.equal(bytes.readUInt8(3), Math.round(Number(humidity)));
          assert.ok(!isUtf8(bytes));
        } else {
          const reading = JSON.parse(bytes.toString()) as Record<string, unknown>;
          assert.equal(Object.keys(reading).join(), names[kind]);
        }
      }
      const kinds = new Set(BUILT_IN_DEVICES.map(({ kind = 'climate' }) => kind));
      assert.deepEqual(kinds, new Set(['climate', 'power', 'door', 'probe']));
      const meter = BUILT_IN_DEVICES.find(({ kind }) => kind === 'power')!;
      await openPost(simulator, `set_gpio_edge/${meter.chipid}/5/1/`);
      const { bytes } = simulator.upload(meter.chipid);
      assert.ok((JSON.parse(bytes.toString()) as { power: number }).power > 1500);
    }),
  );
});
