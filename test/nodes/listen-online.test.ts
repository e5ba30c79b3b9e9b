import assert from 'node:assert/strict';
import { OnlineDevices } from '../../nodes/listen/online';
import { Positions } from '../../nodes/listen/listened-devices';
import type { Simulator } from '../../src/simulator';
import { settled, until } from '../tooling/until';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, emitted, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { inEachDialect } from '../tooling/dialect';
import { useClock } from '../support/clock';
import { MemoryPort, memoryStore } from '../support/memory-store';

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

  const world = (seen: readonly (readonly [key: string, at: unknown])[] = []) => {
    let now: number | undefined = 100 * DAY;
    const listening = new Set<string>();
    let isFull = false;
    const store = memoryStore();
    for (const [chipid, at] of seen) store.update(`seen:listen:${chipid}`, at);
    const devices = new OnlineDevices({
      ...{ store, node: 'listen', now: () => now },
      add: (chipid) => void listening.add(chipid),
      remove: (chipid) => void listening.delete(chipid),
      full: () => void (isFull = true),
    });
    const record = (chipid: string) => [chipid, { chipid: Number(chipid) }] as const;
    return {
      ...{ devices, isFull: () => isFull },
      listening: () => [...listening].sort(),
      count: () => listening.size,
      pass: (time: number) => void (now = Number(now) + time),
      setTime: (time: number | undefined) => void (now = time),
      kept: () => store.list('seen:').map(([key, at]) => [String(key.split(':')[2]), at] as const),
      read: (...chipids: string[]) =>
        devices.onReading({ devices: new Map(chipids.map(record)) as never }),
    };
  };

  it('are listened to for 30 days after they were last seen, by the list or an upload', async () => {
    const { devices, listening, pass, read } = world();
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
    const { listening, count, pass, read, isFull } = world();
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

  it('are kept, and restored without what is invalid', () => {
    const first = world();
    first.read('1', '2');
    assert.deepEqual(world(first.kept()).listening(), ['1', '2']);
    const seen = [
      ['3', 99 * DAY],
      ['x', 99 * DAY],
      ['5', '6'],
      ['6', null],
    ] as const;
    assert.deepEqual(world(seen).listening(), ['3']);
  });

  it('are not forgotten for a clock that is wrong: what counts is the time of the service', () => {
    const sleeping = world([['1', 99 * DAY]]);
    // A start with an old date, or a new one, before the service has said what time it is.
    sleeping.setTime(undefined);
    sleeping.devices.seen('1');
    assert.deepEqual([sleeping.listening(), sleeping.kept()], [['1'], [['1', 99 * DAY]]]);
    sleeping.setTime(100 * DAY);
    sleeping.read('2');
    assert.deepEqual(sleeping.listening(), ['1', '2']);
    sleeping.pass(29 * DAY + 1);
    sleeping.read();
    assert.deepEqual(sleeping.listening(), ['2']);
  });

  it('are written when they are new, and then with a new time once an hour', () => {
    const { kept, pass, read } = world();
    read('1');
    const [[, first] = ['', 0]] = kept();
    for (let minute = 0; minute < 59; minute++) {
      pass(60_000);
      read('1');
    }
    assert.deepEqual(kept(), [['1', first]]);
    pass(60_000);
    read('1');
    assert.deepEqual(kept(), [['1', Number(first) + 3600_000]]);
  });
});

describe('how far a listener has emitted', () => {
  it('is kept as far as its messages were passed on', async () => {
    const port = new MemoryPort();
    port.kept.set('position:listen:1', '{"id":"7","live":2}');
    port.kept.set('position:listen:2', '{"id":"x","live":0}');
    port.kept.set('position:listen:3', 'null');
    const store = memoryStore(port);
    await store.loaded;
    const positions = new Positions(store, 'listen');
    const found = ['1', '2', '3'].map((chipid) => positions.get(chipid));
    assert.deepEqual(found, [{ id: '7', live: 2 }, undefined, undefined]);
    positions.set('1', () => ({ id: '8', live: 1 }));
    positions.set('1', () => ({ id: '8', live: 2 }));
    assert.deepEqual(positions.get('1'), { id: '8', live: 2 });
    await settled(2);
    positions.set('1', () => ({ id: '9', live: 3 }));
    // Node-RED drops what it has not passed on.
    positions.close();
    await store.close();
    assert.equal(port.kept.get('position:listen:1'), '{"id":"8","live":2}');
  });
});
