import assert from 'node:assert/strict';
import { BUILT_IN_DEVICES, type FaultName, type Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import {
  channelUrl,
  nextEvent,
  nextFrame,
  openChannel,
  openGet,
  openPost,
  push,
  refusedUpgrade,
  withSimulator,
} from './client';
import { isUtf8 } from 'node:buffer';

const DEVICE = '10000001';

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

describe('simulator: channel', () => {
  it(
    'records heartbeats and ignores unknown frames',
    withSimulator({}, async (simulator) => {
      const socket = await openChannel(simulator, DEVICE);
      const ignored = [
        '{"type":"heartbeat"}',
        '{"type":"msgpush"}',
        '{"type":"msgpush","body":"no base64!"}',
        'nonsense',
      ];
      for (const frame of ignored) socket.send(frame);
      socket.send(Buffer.from('{"type":"msgpush","body":"AP8="}'));
      socket.send('{"type":"msgpush","body":"b2s="}');
      const { received } = simulator.device(DEVICE);
      await until(() => received.length > 0);
      assert.equal(received[0]?.text, 'ok');
      assert.equal(simulator.frames[0]?.text, ignored[0]);
    }),
  );

  it(
    'refuses an upgrade: 401 for a wrong sign, 404 for an unknown device or path, 400 for parameters',
    withSimulator({}, async (simulator) => {
      const url = channelUrl(simulator, DEVICE);
      const refused = [
        [channelUrl(simulator, DEVICE, { appkey: 'another' }), 401],
        [url.replace('chipid=10000001', 'chipid=10000002'), 401],
        [channelUrl(simulator, '10000009'), 404],
        [url.replace('/peer?', '/peer/?'), 404],
        [url.replace(/&timestamp=\d+/, ''), 400],
      ] as const;
      for (const [address, status] of refused) {
        assert.equal(await refusedUpgrade(address), status, address);
      }
    }),
  );
});
