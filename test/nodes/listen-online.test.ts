import assert from 'node:assert/strict';
import { OnlineDevices } from '../../nodes/listen/online';
import type { Simulator } from '../../src/simulator';
import { settled, until } from '../../tooling/until';
import { keptWith } from './support/kept-in-memory';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { inEachDialect } from '../../tooling/dialect';
import { tick, useClock } from '../support/clock';

const [ONE, TWO] = ['10000001', '10000002'] as const;
const DAY = 24 * 3600_000;

inEachDialect('a listener to every online device', () => {
  useNodeRed();
  let cloud: Simulator;

  beforeEach(async () => {
    cloud = await startCloud({ devices: [{ chipid: ONE }, { chipid: TWO }] });
  });
  const listener = (more: object = {}) =>
    node('listen', { devices: 'online', refresh: '1', ...more });
  const start = (more: object = {}): Promise<void> => load([cloudApp(cloud), listener(more)]);
  const payloads = (): unknown[] => arrivedAt('out').map(({ payload }) => payload);
  const emitted = (payload: string): Promise<void> =>
    until(() => payloads().includes(payload), `${payload} is emitted`);
  /** Waits for readings of the list. */
  const readings = (): number =>
    cloud.requests.filter(({ path }) => path.includes('/devices/')).length;
  const isReadAgain = (times: number): Promise<void> => {
    const wanted = readings() + times;
    return until(() => readings() >= wanted, 'the list is read again');
  };

  it('listens to devices that appear in the list, and to those that have left it', async () => {
    await start();
    await shows('listen', '2/2');
    cloud.switchOff(TWO);
    cloud.addDevice({ chipid: 77 });
    await shows('listen', '3/3');
    await isReadAgain(2);
    assert.equal(cloud.channels(TWO), 1);
    cloud.upload(77, 'new');
    await emitted('new');
    cloud.switchOn(TWO);
    // Before the list shows it again.
    cloud.upload(TWO, 'just awake');
    await emitted('just awake');
    assert.deepEqual(
      arrivedAt('out').map(({ replayed }) => replayed),
      [undefined, undefined],
    );
  });

  it('listens after a restart to the devices that were online before', async () => {
    await start();
    await deploy([cloudApp(cloud), listener({ name: 'again' })]);
    await shows('listen', '2/2');
    await isReadAgain(1);
    cloud.switchOff(TWO);
    await isReadAgain(2);
    await deploy([cloudApp(cloud), listener({ name: 'and again', refresh: '60' })]);
    await until(() => cloud.channels(TWO) === 1, 'the channel of the one that sleeps is open');
    await shows('listen', '2/2');
  });
});

describe('the devices that were seen online', () => {
  useClock();

  const world = (saved?: unknown, isHeld = false) => {
    let now = 100 * DAY;
    const listening = new Set<string>();
    const [failures, written]: [unknown[], object[]] = [[], []];
    let isFull = false;
    let open: () => void = () => undefined;
    const isOpen = isHeld ? new Promise<void>((resolve) => (open = resolve)) : Promise.resolve();
    const kept = keptWith({
      read: () => (saved instanceof Error ? Promise.reject(saved) : Promise.resolve(saved)),
      write: (value) => Promise.resolve(void written.push(value)),
    });
    const devices = new OnlineDevices({
      ...{ appid: '10001', now: () => now },
      kept: isOpen.then(() => kept),
      onProblem: () => undefined,
      add: (chipid) => void listening.add(chipid),
      remove: (chipid) => void listening.delete(chipid),
      failed: (error) => void failures.push(error),
      full: () => void (isFull = true),
    });
    const record = (chipid: string) => [chipid, { chipid: Number(chipid) }] as const;
    return {
      ...{ devices, failures, written, isFull: () => isFull, open: () => open() },
      listening: () => [...listening].sort(),
      count: () => listening.size,
      pass: (time: number) => void (now += time),
      read: (...chipids: string[]) =>
        devices.onReading({ devices: new Map(chipids.map(record)) as never }),
    };
  };

  it('are listened to for 30 days after they were last seen, by the list or an upload', async () => {
    const { devices, listening, pass, read } = world();
    await devices.restore();
    read('1', '2', '3');
    assert.deepEqual(listening(), ['1', '2', '3']);
    pass(20 * DAY);
    read('2');
    devices.seen('3');
    pass(10 * DAY + 1);
    read();
    assert.deepEqual(listening(), ['2', '3']);
    pass(20 * DAY);
    read();
    assert.deepEqual(listening(), []);
  });

  it('are at most 10,000: of those that are not online, the one seen last longest ago is dropped first', async () => {
    const { devices, listening, count, pass, read, isFull } = world();
    await devices.restore();
    read('old');
    pass(1);
    const many = Array.from({ length: 10_000 }, (_, index) => String(20_000 + index));
    read(...many);
    assert.equal(count(), 10_000);
    assert.ok(!listening().includes('old'));
    pass(1);
    read('more', ...many);
    assert.ok(isFull());
    assert.ok(
      !listening().includes('more'),
      'a list that is too long drops no device that is online',
    );
    assert.equal(count(), 10_000);
  });

  it('are listened to while it is not known yet what was kept, which is not lost', async () => {
    const saved = { appid: '10001', seen: [['1', 100 * DAY - 1]] };
    const { devices, listening, read, written, open } = world(saved, true);
    const restored = devices.restore();
    read('2');
    await settled();
    assert.deepEqual([listening(), written], [['2'], []]);
    open();
    await restored;
    assert.deepEqual(listening(), ['1', '2']);
    await settled();
    assert.equal((written.at(-1) as { seen: unknown[] }).seen.length, 2);
  });

  it('are kept, and restored without what is invalid or of another application', async () => {
    const first = world();
    await first.devices.restore();
    first.read('1', '2');
    await settled();
    const kept = first.written.at(-1);
    const again = world(JSON.parse(JSON.stringify(kept)));
    await again.devices.restore();
    assert.deepEqual(again.listening(), ['1', '2']);
    const seen = [
      ['3', 99 * DAY],
      ['x', 99 * DAY],
      ['4', 69 * DAY],
      ['5', '6'],
      null,
      ['6', 200 * DAY],
    ];
    const edited = world({ appid: '10001', seen });
    await edited.devices.restore();
    assert.deepEqual(edited.listening(), ['3', '6']);
    const other = world({ appid: '10002', seen });
    await other.devices.restore();
    assert.deepEqual(other.listening(), []);
  });

  it('are written once they have changed, and once an hour', async () => {
    const { devices, written, pass, read } = world();
    read('1');
    await settled();
    assert.equal(written.length, 0, 'what was kept has not been read yet');
    await devices.restore();
    await settled();
    assert.equal(written.length, 1);
    for (let minute = 0; minute < 59; minute++) {
      pass(60_000);
      read('1');
      tick(60_000);
      await settled(3);
    }
    assert.equal(written.length, 1);
    pass(60_000);
    read('1');
    await settled();
    assert.equal(written.length, 2);
    devices.close();
  });

  it('are listened to as the list shows them while the store fails', async () => {
    const { devices, listening, failures, written, read } = world(new Error('broken'));
    const restoring = devices.restore();
    read('1');
    await settled();
    assert.deepEqual([listening(), failures.length, written.length], [['1'], 1, 0]);
    devices.close();
    await restoring;
  });
});
