import assert from 'node:assert/strict';
import { mock } from 'node:test';
import { MAX_KEPT } from '../../../src/commands/pins';
import { manual } from '../support/manual';
import { Store } from '../../../src/store/store';
import { settled } from '../../tooling/until';
import { keepWorld, optionsOf, type PinCall } from './pins-world';
import { useClock } from '../../support/clock';

describe('a pin that is kept', () => {
  let world: ReturnType<typeof keepWorld>;
  useClock();
  beforeEach(() => {
    world = keepWorld();
    world.list.online = ['1'];
  });
  afterEach(() => world.pins.close());

  /** What waits in the queues of devices is called, and from now on nothing waits. */
  const letGo = async (rounds = 20): Promise<void> => {
    world.state.isQueued = false;
    for (const open of world.gates.splice(0)) open();
    await settled(rounds);
  };
  /** The device shows itself ten times. */
  const uploadEachMinute = async (): Promise<void> => {
    for (let uploads = 0; uploads < 10; uploads++) {
      await world.pass(60);
      world.channels.upload('1');
    }
  };

  it('is set at once, and believed when it was read back', async () => {
    assert.equal(await world.keep('1', 5, 1), 'pending');
    assert.deepEqual(world.take(), { calls: ['1 5=1', '1 read'], states: ['1/5 1 1 kept'] });
    assert.deepEqual(world.pins.list({ chipid: '1' }), [
      { chipid: '1', pin: 5, wanted: 1, found: 1, state: 'kept' },
    ]);
    assert.equal(await world.keep('1', 5, 1), 'kept');
    assert.deepEqual(world.take(), { calls: [], states: [] });
  });

  it('is looked at every `check` seconds, and set again if it lost its level meanwhile', async () => {
    await world.keep('1', 5, 1);
    world.take();
    await world.pass(299);
    assert.deepEqual(world.take().calls, []);
    await world.pass(1);
    assert.deepEqual(world.take(), { calls: ['1 read'], states: [] });
    world.device('1').loseAndRegainPower();
    await world.pass(300);
    assert.deepEqual(world.take(), {
      calls: ['1 read', '1 5=1', '1 read'],
      states: ['1/5 1 0 pending', '1/5 1 1 kept'],
    });
  });

  it('with `check` 0 is looked at after the device was offline, and not otherwise', async () => {
    await world.keep('1', 5, 1, world.keeper, 0);
    world.take();
    await world.pass(3600);
    assert.deepEqual(world.take().calls, []);
    world.list.online = [];
    await world.pass(60);
    assert.deepEqual(world.take(), { calls: [], states: ['1/5 1 1 pending'] });
    world.device('1').loseAndRegainPower();
    world.list.online = ['1'];
    await world.pass(60);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 read']);
  });

  it('of a device that is away is set when it is listed or uploads, on a channel open until then', async () => {
    for (const show of [() => world.list.refresh(), () => world.channels.upload('2')]) {
      assert.equal(await world.keep('2', 5, 1), 'pending');
      assert.deepEqual(world.take(), { calls: [], states: [] });
      assert.deepEqual([...world.channels.listeners.keys()], ['2']);
      world.list.online = ['2'];
      show();
      await settled(20);
      assert.deepEqual(world.take(), { calls: ['2 5=1', '2 read'], states: ['2/5 1 1 kept'] });
      assert.equal(world.channels.listeners.size, 0);
      world.list.online = [];
      await world.keep('2', 5, null);
      await world.pass(1);
      world.take();
    }
  });

  it('is set at once although the list cannot be read', async () => {
    world.list.isBroken = true;
    await world.keep('2', 5, 1);
    assert.deepEqual(world.take().calls, ['2 5=1', '2 read']);
  });

  it('that does not follow differs, and is tried again at the next look', async () => {
    world.device('1').stuck.add(5);
    await world.keep('1', 5, 1);
    assert.deepEqual(world.take(), { calls: ['1 5=1', '1 read'], states: ['1/5 1 0 differs'] });
    assert.equal(await world.keep('1', 5, 1), 'differs');
    await world.pass(299);
    assert.deepEqual(world.take(), { calls: [], states: [] });
    await world.pass(1);
    assert.deepEqual(world.take(), { calls: ['1 read', '1 5=1', '1 read'], states: [] });
    world.device('1').stuck.clear();
    await world.pass(300);
    assert.deepEqual(world.take(), {
      calls: ['1 read', '1 5=1', '1 read'],
      states: ['1/5 1 1 kept'],
    });
  });

  for (const refusal of ['SERVER_ERROR', 'BAD_REQUEST', 'UNAUTHORIZED'] as const)
    it(`that the service does not set (${refusal}) stays pending, and the error is reported once`, async () => {
      world.device('1').refusal = refusal;
      await world.keep('1', 5, 1);
      await uploadEachMinute();
      assert.deepEqual(world.take().states, [`1/5 ${refusal}`]);
      world.device('1').refusal = undefined;
      await world.pass(120);
      assert.deepEqual(world.take().states, ['1/5 1 1 kept']);
    });

  it('is looked at after a reboot through this client, once the device has had time to boot', async () => {
    await world.keep('1', 5, 1);
    await world.pass(60);
    world.take();
    world.device('1').loseAndRegainPower();
    world.pins.rebooted('1');
    assert.deepEqual(world.take(), { calls: [], states: ['1/5 1 1 pending'] });
    await world.pass(9);
    assert.deepEqual(world.take().calls, []);
    await world.pass(1);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 read']);
  });

  it('is looked at once more after a reboot that comes between the calls of a look', async () => {
    await world.keep('1', 5, 1, world.keeper, 0);
    world.take();
    world.state.isQueued = true;
    await world.keep('1', 4, 1, world.keeper, 0);
    world.gates.shift()?.();
    await settled(20);
    // The device still answers with the levels that it is about to lose.
    world.pins.rebooted('1');
    await letGo();
    assert.deepEqual(world.take().calls, ['1 4=1', '1 read']);
    world.device('1').loseAndRegainPower();
    await world.pass(30);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 4=1', '1 read']);
  });

  it('of a device that does not answer waits for its next sign of life, and is never set twice within 30 s', async () => {
    world.device('1').failures.push('TIMEOUT');
    await world.keep('1', 5, 1);
    assert.deepEqual(world.take(), { calls: ['1 5=1'], states: [] });
    await world.pass(5);
    world.channels.upload('1');
    await settled(20);
    assert.deepEqual(world.take().calls, []);
    await world.pass(30);
    world.channels.upload('1');
    await world.pass(1);
    assert.deepEqual(world.take(), {
      calls: ['1 read', '1 5=1', '1 read'],
      states: ['1/5 1 1 kept'],
    });
  });

  it('is read once for all pins of its device, which are set together', async () => {
    await world.keep('1', 5, 1);
    await world.keep('1', 4, 1);
    world.device('1').loseAndRegainPower();
    world.take();
    await world.pass(300);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 4=1', '1 read']);
  });

  it('is called no more after null, not even by what waits in the queue of the device', async () => {
    world.state.isQueued = true;
    await world.keep('1', 5, 1);
    assert.equal(await world.keep('1', 5, null), 'ended');
    for (const open of world.gates.splice(0)) open();
    await world.pass(3600);
    assert.deepEqual(world.take(), { calls: [], states: [] });
    assert.deepEqual([world.pins.list(), world.left()], [[], [0, 0, 0]]);
    assert.equal(await world.keep('1', 7, null), 'ended');
  });

  it('is set at once, even while many others are looked at after a start', async () => {
    const wish = { node: 'node', wanted: 1, found: 1, state: 'kept' };
    const devices = Array.from({ length: 20 }, (_, index) => String(index + 1));
    for (const device of devices) world.port.kept.set(`pin:${device}:5`, JSON.stringify(wish));
    world.list.online = devices;
    world.state.isQueued = true;
    await world.restart(2);
    await world.pass(31);
    assert.equal(world.gates.length, 8);
    await world.keep('20', 5, 0);
    assert.equal(world.gates.length, 9);
    await letGo(50);
    assert.deepEqual(
      world.take().calls.filter((call) => call.startsWith('20 ')),
      ['20 5=0', '20 read'],
    );
  });

  it('has the newest level, also if it changes while the calls are under way', async () => {
    world.state.isQueued = true;
    await world.keep('1', 5, 1);
    await world.keep('1', 5, 0);
    await letGo();
    assert.deepEqual(world.take(), {
      calls: ['1 read', '1 5=0', '1 read'],
      states: ['1/5 0 0 kept'],
    });
  });

  it('has the newest level, also if the one before is being written', async () => {
    await world.keep('1', 5, 1);
    const options = optionsOf(world.keeper);
    const wishes = ([0, 1] as const).map((level) => world.pins.keep('1', 5, level, options));
    assert.deepEqual(
      (await Promise.all(wishes)).map(({ wanted }) => wanted),
      [0, 1],
    );
    await settled(20);
    const [kept] = world.pins.list();
    assert.deepEqual(kept, { chipid: '1', pin: 5, wanted: 1, found: 1, state: 'kept' });
    assert.match(String(world.port.kept.get('pin:1:5')), /"wanted":1/);
  });

  it('belongs to the newest keeper; the one before is told that it has ended', async () => {
    const others: string[] = [];
    const onState = ({ state }: { state: string }): void => void others.push(state);
    const other = { id: 'other', onState };
    await world.keep('1', 5, 1);
    await world.keep('1', 5, 0, other);
    assert.deepEqual(world.take().states, ['1/5 1 1 kept', '1/5 null 1 ended']);
    assert.deepEqual(others, ['kept']);
    world.pins.release('node', true);
    assert.equal(world.pins.list().length, 1);
    await world.keep('1', 5, null);
    assert.deepEqual(others, ['kept', 'ended']);
  });

  it('is kept over a restart: looked at, and set only if it differs; nothing is said that was said before', async () => {
    await world.keep('1', 5, 1);
    await world.keep('1', 4, 1);
    world.take();
    await world.restart(60);
    await world.pass(30);
    assert.deepEqual(world.take(), { calls: ['1 read'], states: [] });
    world.device('1').loseAndRegainPower();
    await world.restart(60);
    await world.pass(30);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 4=1', '1 read']);
  });

  it('is not looked at within 30 s because of restarts', async () => {
    world.device('1').stuck.add(5);
    await world.keep('1', 5, 1);
    world.take();
    await world.restart(10);
    await world.restart(10);
    await world.pass(29);
    assert.deepEqual(world.take().calls, []);
    await world.pass(1);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 read']);
  });

  it('is wanted once that is written: a kill brings back no earlier level', async () => {
    await world.keep('1', 5, 1);
    const write = world.port.write.bind(world.port);
    for (const [level, written] of [
      [0, /"wanted":0/],
      [null, /undefined/],
    ] as const) {
      const writing = manual();
      world.port.write = (...all) => writing.promise.then(() => write(...all));
      let isWanted = false;
      const keeping = world.pins.keep('1', 5, level, optionsOf(world.keeper));
      void keeping.then(() => (isWanted = true));
      await settled(20);
      assert.equal(isWanted, false);
      writing.resolve();
      await keeping;
      assert.match(String(world.port.kept.get('pin:1:5')), written);
    }
  });

  it('is wanted although nothing can be written, and written as soon as it can be', async () => {
    await world.keep('1', 4, 1);
    world.take();
    world.port.failure = new Error('EMFILE: too many open files');
    assert.equal(await world.keep('1', 5, 1), 'pending');
    assert.deepEqual(world.take().states, ['1/5 1 1 kept']);
    world.port.failure = undefined;
    await world.pass(3);
    assert.match(String(world.port.kept.get('pin:1:5')), /"wanted":1,"found":1,"state":"kept"/);
  });

  it('is continued only from what is whole and its own, and not if it has a newer level by then', async () => {
    const wish = { node: 'node', wanted: 1, found: 1, state: 'kept', isNew: false };
    const { kept } = world.port;
    kept.set('pin:1:5', JSON.stringify(wish));
    kept.set('pin:1:6', JSON.stringify({ ...wish, state: 'x', found: undefined, isNew: 7 }));
    for (const [key, value] of Object.entries({
      ...{ 'pin:1:1': null, 'pin:1:2': 7, 'pin:1:-1': wish, 'pin:../x:1': wish, 'pin:1': wish },
      ...{ 'pin:1:3': { ...wish, wanted: 2 }, 'pin:1:4': { ...wish, node: 'other' } },
    }))
      kept.set(key, JSON.stringify(value));
    await world.restart(2);
    const newer = world.keep('1', 5, 0);
    assert.deepEqual(
      world.pins.list().map(({ pin }) => pin),
      [5, 6],
    );
    await newer;
    assert.equal(world.pins.list()[0]?.wanted, 0);
  });

  it('stays in the store while its keeper is away, and ends with it', async () => {
    await world.keep('1', 5, 1);
    world.pins.release('node', false);
    assert.deepEqual([world.pins.list(), [...world.port.kept.keys()]], [[], ['pin:1:5']]);
    await world.pins.restore(optionsOf(world.keeper));
    await settled(20);
    assert.equal(world.pins.list().length, 1);
    world.pins.release('node', true);
    await world.pass(2);
    assert.deepEqual([world.pins.list(), world.port.kept.size], [[], 0]);
  });

  it('that is being written when its keeper goes away is not called for it', async () => {
    // The store is loaded by now, and not yet written.
    await world.keep('2', 5, null);
    world.take();
    const keeping = world.pins.keep('1', 5, 1, optionsOf(world.keeper));
    await Promise.resolve();
    world.pins.release('node', false);
    await keeping;
    await settled(20);
    assert.deepEqual([world.take(), world.pins.list()], [{ calls: [], states: [] }, []]);
    await world.pins.restore(optionsOf(world.keeper));
    await settled(20);
    assert.deepEqual(world.take().calls, ['1 read', '1 5=1', '1 read']);
  });

  it('may be ended by what is called with its state', async () => {
    const ended: string[] = [];
    const keeper = {
      onState({ pin, state }: { pin: number; state: string }) {
        ended.push(`${pin} ${state}`);
        if (state === 'kept') void world.pins.keep('1', 9 - pin, null, optionsOf(keeper));
        throw new Error('thrown by a callback');
      },
    };
    const warnings = mock.method(process, 'emitWarning', () => undefined);
    world.state.isQueued = true;
    await world.keep('1', 5, 1, keeper);
    await world.keep('1', 4, 1, keeper);
    await letGo(30);
    warnings.mock.restore();
    assert.deepEqual(ended, ['5 kept']);
    assert.deepEqual(
      world.pins.list().map(({ pin }) => pin),
      [5],
    );
  });

  it('is one of 20,000 at most, and says so', async () => {
    const keep = (pin: number, level: 1 | null): Promise<unknown> =>
      world.pins.keep('9', pin, level, optionsOf());
    for (let pin = 0; pin < MAX_KEPT; pin++)
      world.port.kept.set(`pin:9:${pin}`, '{"node":"other","wanted":1}');
    await world.restart(2);
    const lists = mock.method(Store.prototype, 'list');
    await assert.rejects(keep(MAX_KEPT, 1), { code: 'QUEUE_FULL' });
    await keep(0, null);
    await keep(MAX_KEPT, 1);
    lists.mock.restore();
    assert.equal(lists.mock.callCount(), 0, 'for each wish, that would take too long');
  });

  it('of a device that comes and goes at random: as wanted at the end, and never called too often', async () => {
    for (const pin of [3, 4, 5]) await world.keep('1', pin, 1);
    await world.pass(60);
    world.take();
    let seed = 7;
    const chance = (of: number): boolean => (seed = (seed * 16_807) % 2_147_483_647) % of === 0;
    const device = world.device('1');
    for (let second = 0; second < 3600; second++) {
      if (chance(40)) {
        device.isOn = !device.isOn;
        if (device.isOn) device.loseAndRegainPower();
        if (chance(3)) world.list.online = device.isOn ? ['1'] : [];
      }
      if (device.isOn && chance(7)) world.channels.upload('1');
      await world.pass(1);
    }
    device.isOn = true;
    world.list.online = ['1'];
    await world.pass(1000);
    assert.equal(device.levels, '0001110000');
    assertRare(world.calls, 3);
  });
});

/** No pin is set twice within 30 s, and no look begins within 30 s of another one. */
function assertRare(calls: readonly PinCall[], pins: number): void {
  const last = new Map<string, number>();
  for (const [at, call] of calls) {
    if (call.includes('=')) assert.ok(at - (last.get(call) ?? -Infinity) >= 30, `${call} at ${at}`);
    last.set(call, at);
  }
  for (const [at] of calls) {
    const within = calls.filter(([other]) => other >= at && other < at + 30).length;
    assert.ok(within <= pins + 2, `${within} calls in the 30 s after ${at}`);
  }
}
