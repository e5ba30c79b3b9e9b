import type { FaultName, HistoryRewrite } from '../../src/simulator';
import { seededRandom } from '../../src/simulator/sensors';
import type { World } from './world';

/** Random choices that a seed repeats. */
export interface Dice {
  /** A number from `low` up to `high`. */
  between(low: number, high: number): number;
  /** A whole number from 0 up to, not including, `sides`. */
  roll(sides: number): number;
  pick<T>(items: readonly T[]): T;
}

export function createDice(seed: string): Dice {
  const random = seededRandom(seed);
  const roll = (sides: number): number => Math.floor(random() * sides);
  return {
    between: (low, high) => low + random() * (high - low),
    roll,
    pick<T>(items: readonly T[]): T {
      const item = items[roll(items.length)];
      if (item === undefined) throw new RangeError('There is nothing to pick from.');
      return item;
    },
  };
}

const CLOSE_CODES = [1000, 1001, 1006, 1008, 1011, 1012, 1013];
const UPGRADE_FAULTS: FaultName[] = ['gateway-upgrade', 'answer-upgrade', 'reset-upgrade'];
const HISTORY_FAULTS: FaultName[] = [
  ...(['server-error', 'gateway', 'too-many', 'reset', 'reset-in-body'] as const),
  ...(['truncated', 'broken-json', 'drop-after-answer'] as const),
];
/** All but one that is no fault to the client: a type it does not know. */
const EVENT_FAULTS: FaultName[] = [
  ...(['bad-json', 'not-an-object', 'deep', 'bad-base64', 'missing-fields'] as const),
  ...(['other-chipid', 'binary', 'bad-utf8', 'rsv-frame', 'big-frame'] as const),
];
/** As Base64 in its event it exceeds 16 MiB, a frame's limit; a history in text with it does not. */
const OVER_LIMIT = 12_700_000;
/** Each stays in the history of its device for good. */
const MOST_OVER_LIMIT = 3;
/** More levels than a message may have. */
const DEEP = 2500;
const HISTORY = { path: 'up_messages' };
const LIST = { path: 'devices/list' };
const LIST_FAULTS: FaultName[] = ['unauthorized', 'server-error', 'array', 'null', 'html', 'reset'];
/** After the device has acted: whoever sends it again lets it act twice. */
const PUSH = { path: 'dev/push', acts: true };
const PUSH_FAULTS: FaultName[] = ['gateway', 'reset', 'reset-in-body', 'broken-json', 'hang'];

/** Milliseconds between two troubles, that a peer is awake or asleep, and after which a middlebox cuts a connection. */
const PAUSE = { low: 500, high: 3500 };
/** Some flap between two readings of the list. */
const SPELL = { low: 200, high: 6000 };
const CUT = 20_000;

/** A trouble that says false has not come. */
type Trouble = [weight: number, name: string, begin: () => unknown];

function troublesOf(world: World, dice: Dice): Trouble[] {
  const { simulator, front, devices, isPublic } = world;
  const { roll } = dice;
  const share = (): number => 1 + roll(Math.ceil(devices.length / 6));
  const fail = (name: FaultName, options: object): void => void simulator.fail(name, options);
  // What could not be read is recovered a little later, so only where nobody looks at the order.
  const unordered = devices.filter((chipid) => !world.isOrdered(chipid));
  const small = [...devices];
  const uploadOverLimit = (): boolean => {
    if (small.length === 0 || devices.length - small.length === MOST_OVER_LIMIT) return false;
    const [chipid = ''] = small.splice(roll(small.length), 1);
    world.upload(chipid, (tag) => tag + 'x'.repeat(OVER_LIMIT));
    return true;
  };
  const uploadDeep = (): void =>
    world.upload(dice.pick(devices), (tag) => `${'['.repeat(DEEP)}"${tag}"${']'.repeat(DEEP)}`);
  /** As firmware does that was not connected: a higher id, and an older time. */
  const uploadLate = (): void =>
    world.upload(
      dice.pick(unordered),
      (tag) => `late ${tag}`,
      Date.now() - dice.between(1e3, 60e3),
    );
  const uploadSerialData = (): void =>
    void simulator.upload(dice.pick(devices), '21.5', { type: 'uart_trans' });
  const HANGS: FaultName[] = ['hang', 'trickle', 'slow-headers'];
  return [
    [4, 'connections reset', () => front.cut(share(), true, roll)],
    [4, 'connections closed', () => front.cut(share(), false, roll)],
    [3, 'connections silent', () => front.silence(share(), dice.between(8e3, 15e3), false, roll)],
    [3, 'connections stalled', () => front.silence(share(), dice.between(1e3, 7e3), true, roll)],
    [1, 'service restarted', () => front.restart(dice.between(200, 4000))],
    [4, 'channel closed', () => simulator.disconnect(dice.pick(devices), dice.pick(CLOSE_CODES))],
    [1, 'all channels closed', () => simulator.disconnect(undefined, dice.pick(CLOSE_CODES))],
    [2, 'upgrades refused', () => fail(dice.pick(UPGRADE_FAULTS), { times: share() })],
    [1, 'upgrades unanswered', () => fail('hang-upgrade', { times: 1 + roll(3) })],
    [4, 'histories failed', () => fail(dice.pick(HISTORY_FAULTS), { ...HISTORY, times: share() })],
    [2, 'histories unanswered', () => fail(dice.pick(HANGS), { ...HISTORY, times: 1 + roll(3) })],
    [1, 'history down', () => world.failFor(dice.between(2e3, 12e3), 'server-error', HISTORY)],
    [
      ...([2, 'events unreadable'] as const),
      () => fail(dice.pick(EVENT_FAULTS), { chipid: dice.pick(unordered), times: 1 + roll(3) }),
    ],
    [2, 'uploads nested deeply', uploadDeep],
    [1, 'uploads over the limit', uploadOverLimit],
    [isPublic ? 4 : 0, 'uploads that come late', uploadLate],
    [isPublic ? 4 : 0, 'data of the serial mode', uploadSerialData],
    [
      isPublic ? 2 : 0,
      'lists without a gateway',
      () => fail('no-gateway', { ...LIST, times: 1 + roll(5) }),
    ],
    [3, 'lists failed', () => fail(dice.pick(LIST_FAULTS), { ...LIST, times: 1 + roll(5) })],
    [1, 'lists unanswered', () => fail('hang', { ...LIST, times: 1 })],
    [
      6,
      'pushes answered wrongly',
      () => fail(dice.pick(PUSH_FAULTS), { ...PUSH, times: 2 + roll(6) }),
    ],
  ];
}

const LONG_ID = '9'.repeat(40);

/** Records that can stand for no upload; the first is older than any upload. */
const BAD: readonly unknown[] = [
  { id: 0, body: null },
  { id: null, body: 'x' },
  { id: LONG_ID, body: 'x' },
  { id: '5f3a9c', body: 'x' },
  { id: -1, body: 'x' },
  { body: 'x' },
  { id: 0, body: 5 },
  { id: 0 },
  ...[null, 5, 'a record', []],
];
const MOST_BAD = 3;

/**
 * Puts bad records, and records a second time, into every third answer of a history, and now and then turns it round.
 * What stands there a second time has no id of its own, so that each upload still is one record.
 */
const spoiling =
  (dice: Dice): HistoryRewrite =>
  (records) => {
    if (dice.roll(3) > 0) return records;
    const spoilt: unknown[] = [...records];
    const put = (record: unknown): void =>
      void spoilt.splice(dice.roll(spoilt.length + 1), 0, record);
    for (let times = 1 + dice.roll(MOST_BAD); times > 0; times--) put(dice.pick(BAD));
    for (let times = dice.roll(MOST_BAD); times > 0 && records.length > 0; times--) {
      const record = dice.pick(records);
      put(dice.pick([record, { ...record, body: null }, { ...record, body: 5 }]));
    }
    return dice.roll(4) === 0 ? spoilt.reverse() : spoilt;
  };

/** Lets peers fall asleep and wake, each on its own. One that wakes uploads. @returns wakes all of them for good */
function startSleeping({ simulator, peers }: World, dice: Dice): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const next = (chipid: string, isAwake: boolean): void => {
    const turn = (): void => {
      if (isAwake) simulator.sleep(chipid);
      else simulator.wake(chipid);
      next(chipid, !isAwake);
    };
    timers.set(chipid, setTimeout(turn, dice.between(SPELL.low, SPELL.high)));
  };
  for (const chipid of peers) next(chipid, true);
  return () => {
    for (const timer of timers.values()) clearTimeout(timer);
    for (const chipid of peers) simulator.wake(chipid);
  };
}

/**
 * Starts trouble of every kind on the network and in the service, as the dice have it.
 * @returns ends all of it, and gives how often each kind came
 */
export function startTrouble(world: World, seed: string): () => Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const dice = createDice(`${seed} trouble`);
  const troubles = troublesOf(world, dice).filter(([weight]) => weight > 0);
  const cards = troubles.flatMap((trouble) => Array<Trouble>(trouble[0]).fill(trouble));
  // Each kind once, in whatever order, before any comes again.
  const first = [...troubles];
  const draw = (): Trouble => first.splice(dice.roll(first.length), 1)[0] ?? dice.pick(cards);
  let timer: NodeJS.Timeout;
  const next = (): void => {
    const begin = (): void => {
      const [, name, trouble] = draw();
      if (trouble() !== false) counts.set(name, (counts.get(name) ?? 0) + 1);
      next();
    };
    timer = setTimeout(begin, dice.between(PAUSE.low, PAUSE.high));
  };
  next();
  world.simulator.rewriteHistory(spoiling(createDice(`${seed} records`)));
  world.front.age(CUT);
  const wake = startSleeping(world, createDice(`${seed} sleep`));
  return async () => {
    clearTimeout(timer);
    wake();
    world.simulator.heal();
    world.simulator.rewriteHistory();
    counts.set('connections cut for their age', world.front.aged);
    await world.front.heal();
    return counts;
  };
}
