import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import {
  DEFAULT_CREDENTIALS,
  OptionError,
  startSimulator,
  type Simulator,
  type SimulatorOptions,
} from '../../../src/simulator';
import { openChannel, openGet, openPost, openUrl, withSimulator } from './client';
import { freePort } from '../../../tooling/servers/ports';
import { until } from '../../../tooling/until';

/** What keeps this process alive. */
const resources = (): number =>
  process.getActiveResourcesInfo().filter((name) => name !== 'Immediate').length;

/** A call on a separate connection, which fetch cannot guarantee. Rejects when the connection is cut. */
async function hangingCall(simulator: Simulator, path: string): Promise<void> {
  const request = httpRequest(simulator.baseUrl + openUrl(simulator, 'get', path), {
    agent: false,
  });
  const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
  await once(response.resume(), 'end');
}

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

  const wrong: [SimulatorOptions, RegExp][] = [
    [{ port: 70000 }, /^port must be a whole number from 0 to 65535, but is 70000\.$/],
    [{ port: 1.5 }, /^port must be/],
    [{ devices: -1 }, /^devices must be/],
    [{ devices: NaN }, /^devices must be/],
    [{ devices: [{ chipid: 2 ** 60 }] }, /^chipid of a device must be.*as a string/],
    [{ devices: [{ chipid: '1e5' }] }, /^chipid of a device must be/],
    [{ devices: [{ chipid: 1 }, { chipid: '1' }] }, /1 is there twice/],
    [{ devices: [{ chipid: 1, sleep: { awake: 0, every: 2 } }] }, /^sleep\.awake of a device must/],
    [
      { devices: [{ chipid: 1, sleep: { awake: 2, every: 2 } }] },
      /^sleep\.every of a device must be more than sleep\.awake, 2, but is 2\.$/,
    ],
    [{ devices: [{ chipid: 1, sleep: 5 as never }] }, /^sleep of a device must be an object/],
    [
      { devices: [{ chipid: 1, kind: 'pump' as 'door' }] },
      /^kind of a device must be climate, probe, power or door, but is "pump"/,
    ],
    [{ appid: 'abc' }, /^appid must be/],
    [{ appkey: '' }, /^appkey must be text/],
    [{ interval: -1 }, /^interval must be/],
    [{ interval: Infinity }, /^interval must be/],
    [{ devices: Array.from({ length: 10_001 }, (_, n) => ({ chipid: n })) }, /^devices must be/],
    [{ unknownApp: 403 as 404 }, /^unknownApp must be 401 or 404, but is 403/],
    [
      { historyEncoding: 'hex' as 'text' },
      /^historyEncoding must be text, base64, trimmed or tagged, but is "hex"/,
    ],
    [{ host: '0.0.0.0' as '127.0.0.1' }, /^host must be 127\.0\.0\.1/],
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

  it(
    'reports a port that is in use',
    withSimulator({}, async ({ port }) => {
      await assert.rejects(startSimulator({ port }), {
        name: 'OptionError',
        message: `port ${port} is taken: choose another one, or 0 for any that is free.`,
      });
    }),
  );

  it('leaves nothing behind when it cannot start', async () => {
    await new Promise(setImmediate); // mocha's own timer starts meanwhile
    const before = resources();
    await assert.rejects(startSimulator({ devices: [{ chipid: 1 }, { chipid: 1 }] }));
    const other = await startSimulator({ interval: 0 });
    await assert.rejects(startSimulator({ port: other.port }));
    await other.close();
    await until(() => resources() <= before);
    assert.equal(other.sockets(), 0);
  });

  it(
    'logs each request with its parameters and status',
    withSimulator({ now: () => 5000 }, async (simulator) => {
      await openPost(simulator, 'app/push/message/', { form: { message: 'ä b' } });
      const record = simulator.requests.at(-1)!;
      assert.equal(record.method, 'POST');
      assert.equal(record.path, '/openapi/app/push/message/');
      assert.match(record.query, /^appid=10001&timestamp=\d+&sign=[0-9a-f]{32}$/);
      assert.equal(record.body, 'message=%C3%A4+b');
      assert.match(record.headers['content-type'] ?? '', /^application\/x-www-form-urlencoded/);
      assert.deepEqual([record.at, record.status], [5000, 200]);
    }),
  );

  it(
    'logs the last 1000 requests only',
    withSimulator({}, async (simulator) => {
      const wire = connect(simulator.port, '127.0.0.1');
      const asked = Array.from({ length: 1010 }, (_, n) => `/no/${n}`);
      for (const path of asked) wire.write(`GET ${path} HTTP/1.1\r\nHost: loopback\r\n\r\n`);
      wire.resume();
      await until(() => simulator.requests.at(-1)?.path === '/no/1009');
      assert.deepEqual(
        simulator.requests.map(({ path }) => path),
        asked.slice(10),
      );
      wire.destroy();
    }),
  );

  it(
    'sends the time of its own clock in the header Date',
    withSimulator({ now: () => 1_700_000_000_000 }, async (simulator) => {
      const { headers } = await openGet(simulator, 'apps/');
      assert.equal(headers.get('date'), 'Tue, 14 Nov 2023 22:13:20 GMT');
    }),
  );

  it(
    'never answers 500: garbage on the wire is 400 and the service continues',
    withSimulator({}, async (simulator) => {
      const wire = connect(simulator.port, '127.0.0.1');
      wire.write('RUBBISH\r\n\r\n');
      const [data] = (await once(wire, 'data')) as [Buffer];
      assert.match(data.toString(), /^HTTP\/1\.1 400 /);
      wire.destroy();
      assert.equal((await openGet(simulator, 'apps/')).status, 200);
    }),
  );

  it('closes at once with hanging calls, upgrades and open channels, and leaves nothing behind', async () => {
    await new Promise(setImmediate); // mocha's own timer starts meanwhile
    const before = resources();
    const simulator = await startSimulator({ interval: 0.01, answerDelay: 60_000 });
    const channel = await openChannel(simulator, '10000001');
    const closed = once(channel, 'close');
    const ends: Promise<unknown>[] = [hangingCall(simulator, 'gpio_status/10000001/')];
    await until(() => simulator.device(10000001).inFlight === 1);
    for (const name of ['hang', 'slow-headers', 'trickle'] as const) {
      simulator.fail(name, { times: 1 });
      ends.push(hangingCall(simulator, 'apps/'));
    }
    simulator.fail('hang-upgrade');
    ends.push(openChannel(simulator, '10000002'));
    const endings = Promise.allSettled(ends);
    await until(() => simulator.requests.length === 6);
    await Promise.all([simulator.close(), simulator.close()]);
    assert.deepEqual([simulator.sockets(), simulator.channels()], [0, 0]);
    assert.deepEqual(new Set((await endings).map(({ status }) => status)), new Set(['rejected']));
    assert.equal((await closed)[0], 1006);
    await until(() => resources() <= before);
    await assert.rejects(openGet(simulator, 'apps/'), TypeError);
  });

  it('starts again on the port it has just left', async () => {
    // Not one that the system gives away meanwhile, as a connection's own port.
    const first = await startSimulator({ interval: 0, port: await freePort() });
    await openChannel(first, '10000001');
    await first.close();
    const second = await startSimulator({ interval: 0, port: first.port });
    assert.equal((await openGet(second, 'apps/')).status, 200);
    await second.close();
  });
});
