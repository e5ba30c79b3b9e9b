import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  DEFAULT_CREDENTIALS,
  OptionError,
  startSimulator,
  type SimulatorOptions,
} from '../../../src/simulator';
import { openChannel, openGet } from './client';
import { until } from '../../tooling/until';

/** What keeps this process alive. */
const resources = (): number =>
  process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length;

describe('simulator: start, log and end', () => {
  it('starts with defaults on a free port of loopback', async () => {
    const simulator = await startSimulator();
    try {
      assert.match(simulator.baseUrl, /^http:\/\/127\.0\.0\.1:\d+$/);
      assert.equal(simulator.baseUrl, `http://127.0.0.1:${simulator.port}`);
      assert.deepEqual([...simulator.devices.keys()], ['10000001', '10000002', '10000003']);
      assert.equal(simulator.appid, DEFAULT_CREDENTIALS.appid);
      assert.equal((await openGet(simulator, 'apps/')).status, 200);
    } finally {
      await simulator.close();
    }
  });

  it('goes on with the histories, names and pins of one that is closed', async () => {
    const device = '10000001';
    const options = { interval: 0, devices: 2 };
    const first = await startSimulator(options);
    first.upload(device, 'before');
    first.setPin(device, 5, 1);
    await first.close();
    const second = await startSimulator({ ...options, devices: 3 }, first);
    try {
      second.upload(device, 'after');
      const { uploads, levels } = second.device(device);
      assert.deepEqual(
        uploads.map(({ id, bytes }) => [id, bytes.toString()]),
        [
          [1, 'before'],
          [2, 'after'],
        ],
      );
      assert.equal(levels, '0000010000000000');
      assert.equal(first.device(device).uploads.length, 1);
    } finally {
      await second.close();
    }
  });

  const wrong: [SimulatorOptions, RegExp][] = [
    [{ port: 70000 }, /^port must be a whole number from 0 to 65535, but is 70000\.$/],
    [{ devices: [{ chipid: 2 ** 60 }] }, /^chipid of a device must be.*as a string/],
    [{ devices: [{ chipid: 1 }, { chipid: '1' }] }, /1 is there twice/],
    [{ interval: Infinity }, /^interval must be/],
  ];
  for (const [options, message] of wrong) {
    it(`refuses the options ${JSON.stringify(options).slice(0, 100)}`, async () => {
      await assert.rejects(startSimulator(options), (error) => {
        assert.ok(error instanceof OptionError);
        assert.match(error.message, message);
        return true;
      });
    });
  }

  it('closes at once with hanging calls and open channels, and leaves nothing behind', async () => {
    await new Promise(setImmediate); // mocha's own timer starts meanwhile
    const before = resources();
    const simulator = await startSimulator({ interval: 0.01, answerDelay: 60_000 });
    const channel = await openChannel(simulator, '10000001');
    const closed = once(channel, 'close');
    const hanging = assert.rejects(openGet(simulator, 'gpio_status/10000001/'), TypeError);
    await until(() => simulator.device(10000001).inFlight === 1);
    await Promise.all([simulator.close(), simulator.close()]);
    assert.deepEqual([simulator.sockets(), simulator.channels()], [0, 0]);
    await hanging;
    assert.equal((await closed)[0], 1006);
    await until(() => resources() <= before);
  });
});
