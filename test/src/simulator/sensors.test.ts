import assert from 'node:assert/strict';
import { isUtf8 } from 'node:buffer';
import { BUILT_IN_DEVICES, type DeviceKind, type Reading } from '../../../src/simulator';
import { openGet, openPost, withSimulator } from './client';

const ONE = 10000001;
const withOne = (kind: DeviceKind, test: Parameters<typeof withSimulator>[1]) =>
  withSimulator({ devices: [{ chipid: ONE, kind }] }, test);

const readings = (upload: () => { bytes: Buffer }, count: number): Reading[] =>
  Array.from({ length: count }, () => JSON.parse(upload().bytes.toString()) as Reading);

describe('simulator: kinds of devices', () => {
  it(
    'include a meter whose relay switches a heater, and whose energy only grows',
    withOne('power', async (simulator) => {
      const read = () => readings(() => simulator.upload(ONE), 30);
      const before = read();
      await openPost(simulator, `set_gpio_edge/${ONE}/5/1/`);
      const heating = read();
      const watts = (list: Reading[]) => list.map(({ power }) => Number(power));
      assert.ok(Math.max(...watts(before)) < 400, watts(before).join());
      assert.ok(Math.min(...watts(heating)) > 1500, watts(heating).join());
      const energy = [...before, ...heating].map((reading) => Number(reading['energy']));
      assert.deepEqual(
        energy,
        energy.toSorted((a, b) => a - b),
      );
      assert.ok(Number.isNaN(simulator.device(ONE).temperature));
    }),
  );

  it(
    'include a door that opens and closes, and answers only what it measures',
    withOne('door', async (simulator) => {
      const open = readings(() => simulator.upload(ONE), 40).map((reading) => reading['open']);
      assert.deepEqual(new Set(open), new Set([true, false]));
      const ask = (key: string) => openGet(simulator, `rt_status/${ONE}/`, { query: { key } });
      assert.equal((await ask('open')).body, simulator.device(ONE).reading['open']);
      assert.equal((await ask('temperature')).status, 404);
    }),
  );

  it(
    'include a probe, which uploads bytes that are no text',
    withOne('probe', (simulator) => {
      const { bytes } = simulator.upload(ONE);
      const { temperature, humidity } = simulator.device(ONE);
      assert.equal(bytes.length, 4);
      assert.equal(bytes.readInt16BE(1), Math.round(temperature * 100));
      assert.equal(bytes.readUInt8(3), Math.round(humidity));
      assert.ok(!isUtf8(bytes));
      return Promise.resolve();
    }),
  );

  it('are all built in, each with a name, the first three always awake', () => {
    const kinds = new Set(BUILT_IN_DEVICES.map(({ kind = 'climate' }) => kind));
    assert.deepEqual(kinds, new Set(['climate', 'power', 'door', 'probe']));
    assert.ok(BUILT_IN_DEVICES.every(({ name }) => typeof name === 'string'));
    const steady = BUILT_IN_DEVICES.filter(({ sleep }) => !sleep).map(({ chipid }) => chipid);
    assert.deepEqual(steady.slice(0, 3), [10000001, 10000002, 10000003]);
  });
});
