import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceCloudClient } from '../../../src/index';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import { clientOf, simulator as startSimulator } from '../support/client';
import { CHIPID, listen, type Listener } from '../support/listener';
import { gone, resources } from '../support/resources';
import { until } from '../../tooling/until';
import { inEachDialect } from '../../tooling/dialect';

inEachDialect('recovery of missed uploads from a service', (dialect) => {
  let simulator: Simulator;
  let client: DeviceCloudClient;

  const start = async (options?: SimulatorOptions): Promise<void> => {
    simulator = await startSimulator({ devices: 2, ...options });
    const { baseUrl } = simulator;
    client = clientOf(baseUrl, { random: () => 0.01, timeout: 30_000, ping: 300 });
  };
  /** Listens until the history has been read: everything uploaded from now on is recovered. */
  const listening = async (): Promise<Listener> => {
    let isRead = false;
    const listener = listen(client, CHIPID, { save: () => (isRead = true) });
    await until(() => simulator.channels(CHIPID) === 1 && isRead, 'the history has been read');
    return listener;
  };
  /** Closes the channel and uploads in the same moment, so that the channel misses it. */
  const miss = (...bodies: unknown[]): void => {
    simulator.disconnect(CHIPID, 1006);
    for (const body of bodies) simulator.upload(CHIPID, body);
  };

  /** Waits for a number of uploads, and a little longer for one too many. */
  const come = async (listener: Listener, count: number): Promise<string[]> => {
    await until(() => listener.texts().length >= count, `${count} uploads have come`);
    await sleep(100);
    return listener.texts();
  };
  const openings = (): number =>
    simulator.requests.filter(({ path }) => path.includes('/noticed/')).length;
  /** Cuts the channel and waits until it is open again, which may be before anyone sees it closed. */
  const reopened = async (cut: () => void): Promise<void> => {
    const before = openings();
    cut();
    const isOpen = (): boolean => openings() > before && simulator.channels(CHIPID) === 1;
    await until(isOpen, 'the channel is open again');
  };

  it('emits an upload that races with the reading once', async () => {
    await start();
    const listener = await listening();
    const expected: string[] = [];
    const race = setInterval(() => {
      const body = `race ${expected.push(`race ${expected.length}`) - 1}`;
      simulator.upload(CHIPID, body);
    }, 1);
    try {
      for (let round = 0; round < 5; round++) {
        await sleep(60);
        await reopened(() => simulator.disconnect(CHIPID, 1012));
      }
    } finally {
      clearInterval(race);
    }
    assert.deepEqual(await come(listener, expected.length), expected);
  });

  // With one binary upload the public server's history fails as a whole, which hold.test.ts has.
  const onDocument = dialect === 'document' ? it : undefined;
  onDocument?.('reads a history in Base64, with binary uploads', async () => {
    await start({ historyEncoding: 'base64' });
    const listener = await listening();
    const bytes = [Buffer.from([0xff, 0x00, 0xc3, 0x28]), Buffer.alloc(300, 0xfe)];
    simulator.upload(CHIPID, bytes[0]);
    await come(listener, 1);
    miss(...bytes, '{"t":21.5}');
    await come(listener, 4);
    const expected = [bytes[0], ...bytes, Buffer.from('{"t":21.5}')];
    assert.deepEqual(
      listener.uploads.map(({ body }) => body),
      expected,
    );
  });

  onDocument?.('recovers an upload that is too large for the channel', async () => {
    await start();
    const listener = await listening();
    // As Base64 in a frame it is over 16 MiB, in the history below.
    const large = 'x'.repeat(13 * 1024 * 1024);
    simulator.upload(CHIPID, large);
    simulator.upload(CHIPID, 'small');
    await come(listener, 2);
    assert.deepEqual(
      listener.texts().map(({ length }) => length),
      [large.length, 5],
    );
    assert.equal(listener.uploads[0]!.replayed, true);
    assert.equal(listener.faults[0], 'An upload is larger than 16 MiB, the limit for a frame.');
  });

  it('ends a channel that has fallen silent, and recovers what it did not deliver', async () => {
    await start();
    const listener = await listening();
    // A recovery takes a pong, and silence ends only a channel that has had one.
    miss('missed');
    await come(listener, 1);
    const lift = simulator.fail('silence', { chipid: CHIPID });
    simulator.upload(CHIPID, 'not announced');
    await until(() => simulator.channels(CHIPID) === 0, 'the silent channel is ended');
    lift();
    assert.deepEqual(await come(listener, 2), ['missed', 'not announced']);
  });

  it('leaves no request, socket or callback after the release', async () => {
    await start();
    const before = resources();
    const listener = await listening();
    simulator.fail('hang', { path: 'up_messages' });
    await reopened(() => miss('missed'));
    const hanging = (): boolean =>
      simulator.requests.some(({ path, status }) => path.includes('up_messages') && status === 0);
    await until(hanging, 'the history is asked');
    const asked = simulator.requests.length;
    listener.subscription.release();
    await until(() => simulator.channels() === 0, 'the channel is closed');
    await client.close();
    await until(() => simulator.sockets() === 0, 'every connection is closed');
    simulator.upload(CHIPID, 'nobody listens');
    // With no socket and no timer, nothing can come any more.
    await gone(before);
    assert.deepEqual(listener.texts(), []);
    assert.equal(simulator.requests.length, asked);
  });

  it('reads many histories in turn when all devices come back at once', async () => {
    const devices = 60;
    await start({ devices });
    const seen = new Map<string, string[]>();
    const read = new Set<string>();
    for (const chipid of simulator.devices.keys()) {
      seen.set(chipid, []);
      const onUpload = ({ body }: { body: Buffer }): void =>
        void seen.get(chipid)?.push(body.toString());
      client.listen(chipid, { onUpload }, { save: () => void read.add(chipid) });
    }
    await until(() => read.size === devices, 'every history has been read');
    simulator.disconnect(undefined, 1006);
    for (const chipid of seen.keys()) simulator.upload(chipid, `missed by ${chipid}`);
    const all = (): boolean => [...seen.values()].every(({ length }) => length === 1);
    await until(all, 'every device has its missed upload');
  });
});
