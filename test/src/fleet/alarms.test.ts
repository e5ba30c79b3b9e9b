import assert from 'node:assert/strict';
import { Alarms } from '../../../src/fleet/alarms';
import { readLimits } from '../../../src/fleet/limits';
import { FleetRegistry } from '../../../src/fleet/registry';
import { Store, type Entries } from '../../../src/store/store';

/** What a process has left, as JSON, and is loaded by the next one. */
let disk: Map<string, unknown>;
let lines: string | undefined;

/** What floating-point numbers of a device may be, and JSON cannot write. */
const ODD: Readonly<Record<string, number>> = { nan: NaN, inf: Infinity, '-inf': -Infinity };
const revive = (_: string, value: unknown): unknown => ODD[String(value)] ?? value;

const port = () => ({
  load: () => Promise.resolve([...disk]),
  unitOf: () => 'event',
  write: (_unit: string, _changes: Entries, all: () => Entries) => {
    disk = new Map(JSON.parse(JSON.stringify([...all()])) as [string, unknown][]);
    return Promise.resolve(true);
  },
});

async function start() {
  const store = new Store(port());
  await store.loaded;
  const registry = new FleetRegistry(() => 0);
  const events: string[] = [];
  registry.addWatcher({
    onAlarm: ({ chipid }, event, { field, value, limit }) =>
      void events.push(`${event} ${chipid} ${field} ${value} ${limit}`),
  });
  let isOwner = true;
  const alarms = new Alarms({
    ...{ registry, store, node: 'app', guard: { mayEmit: () => isOwner } },
    limitsOf: () =>
      lines === undefined
        ? undefined
        : {
            limits: readLimits(lines).limits,
            decode: (body) => JSON.parse(body.toString(), revive) as Record<string, unknown>,
          },
  });
  const upload = (seconds: number, fields: object) => ({
    ...{ chipid: '1', appid: '1', timestamp: 1000 * seconds },
    body: Buffer.from(JSON.stringify(fields)),
  });
  return {
    registry,
    events,
    kinds: () => events.map((event) => event.split(' ')[0]),
    live: (seconds: number, fields: object) => registry.onLive(upload(seconds, fields)),
    replay: (seconds: number, fields: object) =>
      registry.onEmitted({ ...upload(seconds, fields), replayed: true }, false),
    emit: (seconds: number, fields: object) => registry.onEmitted(upload(seconds, fields)),
    hold: (isHolding: boolean) => registry.onHold('1', isHolding),
    move: () => {
      for (const listener of store.onMoved) listener();
    },
    own: (owns: boolean) => (isOwner = owns),
    on: () => registry.get('1')?.alarms.map(({ limit }) => limit) ?? [],
    async end(): Promise<void> {
      alarms.onEnd();
      await store.close();
    },
  };
}

describe('alarms', () => {
  beforeEach(() => {
    disk = new Map();
    lines = 't > 30 for 60 clear < 28';
  });

  it('are raised once a limit was crossed for long enough, and cleared once it is over', async () => {
    const { live, events, on } = await start();
    const crossed = { 0: 31, 30: 29, 40: 31, 99: 32, 100: 33, 101: 35 };
    for (const [at, t] of Object.entries({ ...crossed, 102: 29, 103: 27.5, 104: 27 }))
      live(Number(at), { t });
    assert.deepEqual(events, [
      'alarm 1 t 33 t > 30 for 60 clear < 28',
      'cleared 1 t 27.5 t > 30 for 60 clear < 28',
    ]);
    assert.deepEqual(on(), []);
  });

  it('are each of its own line; what is no number of its field changes nothing', async () => {
    lines = 'h < 5\nt > 30\nt > 40';
    const { live, events, on } = await start();
    live(0, { t: 41, h: '1' });
    live(1, { h: null, other: 50 });
    live(2, { t: 35 });
    assert.deepEqual(events, [
      'alarm 1 t 41 t > 30',
      'alarm 1 t 41 t > 40',
      'cleared 1 t 35 t > 40',
    ]);
    assert.deepEqual(on(), ['t > 30']);
  });

  it('take no notice of a sensor that fails with NaN or infinity', async () => {
    const first = await start();
    for (const [at, t] of Object.entries({ 0: 31, 20: 'nan', 40: '-inf', 60: 32 }))
      first.live(Number(at), { t });
    assert.deepEqual(first.events, ['alarm 1 t 32 t > 30 for 60 clear < 28']);
    await first.end();
    const { live, events } = await start();
    for (const [at, t] of Object.entries({ 70: 'inf', 80: '-inf', 90: 'nan', 100: 27 }))
      live(Number(at), { t });
    assert.deepEqual(events, ['cleared 1 t 27 t > 30 for 60 clear < 28']);
  });

  it('are reported once over a restart, and so is for how long a limit is crossed', async () => {
    lines = 't > 30 for 60\nh < 5';
    const first = await start();
    first.live(0, { t: 31, h: 4 });
    await first.end();
    const second = await start();
    assert.deepEqual(second.on(), ['h < 5']);
    second.live(60, { t: 31, h: 3 });
    await second.end();
    const third = await start();
    third.live(61, { t: 30, h: 6 });
    assert.deepEqual(
      [first.events, second.events, third.events],
      [
        ['alarm 1 h 4 h < 5'],
        ['alarm 1 t 31 t > 30 for 60'],
        ['cleared 1 t 30 t > 30 for 60', 'cleared 1 h 6 h < 5'],
      ],
    );
    await third.end();
    disk.set('event:app:1', [['h < 5', 'x', { limit: 1 }], 'y', [7]]).set('event:app:nobody', 1);
    assert.deepEqual((await start()).on(), []);
  });

  it('of missed uploads are judged before what came live meanwhile, and none that is over is raised', async () => {
    const { live, replay, emit, hold, move, kinds } = await start();
    live(0, { t: 31 });
    hold(true);
    live(100, { t: 32 });
    // Devices move between processes meanwhile.
    move();
    replay(50, { t: 20 });
    replay(90, { t: 31 });
    emit(100, { t: 32 });
    assert.deepEqual(kinds(), []);
    hold(false);
    // It was back in between: crossed for 10 s.
    assert.deepEqual(kinds(), []);
    live(149, { t: 31 });
    assert.deepEqual(kinds(), []);
    live(150, { t: 31 });
    assert.deepEqual(kinds(), ['alarm']);
    hold(true);
    replay(160, { t: 20 });
    replay(170, { t: 31 });
    replay(240, { t: 31 });
    hold(false);
    assert.deepEqual(kinds(), ['alarm'], 'cleared and raised again meanwhile: it is on as before');
    // Another listener recovers later.
    live(300, { t: 20 });
    replay(170, { t: 31 });
    replay(240, { t: 31 });
    assert.deepEqual(kinds(), ['alarm', 'cleared']);
  });

  it('of what was held back are raised once it is emitted, also if other devices move meanwhile', async () => {
    const { live, emit, hold, move, events } = await start();
    lines = 't > 30';
    hold(true);
    live(0, { t: 31 });
    move();
    emit(0, { t: 31 });
    assert.deepEqual(events, []);
    hold(false);
    assert.deepEqual(events, ['alarm 1 t 31 t > 30']);
    live(1, { t: 20 });
    assert.deepEqual(events.length, 2);
  });

  it('are judged in order by what comes while nothing may be emitted, once it is', async () => {
    const { live, replay, emit, hold, own, events } = await start();
    own(false);
    live(60, { t: 32 });
    own(true);
    hold(true);
    replay(0, { t: 31 });
    emit(60, { t: 32 });
    assert.deepEqual(events, []);
    hold(false);
    assert.deepEqual(events, ['alarm 1 t 32 t > 30 for 60 clear < 28']);
  });

  it('are left to the process that has the device by then', async () => {
    const first = await start();
    lines = 't > 30';
    first.hold(true);
    first.replay(0, { t: 31 });
    first.live(1, { t: 32 });
    first.own(false);
    first.hold(false);
    first.live(2, { t: 33 });
    await first.end();
    const second = await start();
    second.live(2, { t: 33 });
    assert.deepEqual([first.events, second.events], [[], ['alarm 1 t 33 t > 30']]);
  });

  it('end once the type no longer has their limit', async () => {
    const { live, events, on } = await start();
    lines = 't > 30';
    live(0, { t: 31 });
    lines = undefined;
    live(1, { t: 32 });
    assert.deepEqual([events, on()], [['alarm 1 t 31 t > 30', 'cleared 1 t 31 t > 30'], []]);
  });
});
