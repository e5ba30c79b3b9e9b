import type { FaultName, Simulator, UploadOptions } from '../../src/simulator';
import type { Dice } from './dice';
import type { Front } from '../tooling/servers/front';
import { isUnique, mannerOf } from './traffic';

/** Trouble of every kind, until it is stopped. */
export interface Chaos {
  /** How often each kind of trouble came. */
  readonly counts: ReadonlyMap<string, number>;
  /** Ends all trouble: the network carries everything, the service answers everything. */
  stop(): Promise<void>;
}

const CLOSE_CODES = [1000, 1001, 1006, 1008, 1011, 1012, 1013];
const UPGRADE_FAULTS: FaultName[] = ['gateway-upgrade', 'answer-upgrade', 'reset-upgrade'];
const HISTORY_FAULTS: FaultName[] = [
  'server-error',
  'gateway',
  'too-many',
  'reset',
  'reset-in-body',
  'truncated',
  'broken-json',
  'drop-after-answer',
];
/** All but one that is no fault to the client: a type it does not know. */
const EVENT_FAULTS: FaultName[] = [
  'bad-json',
  'not-an-object',
  'deep',
  'bad-base64',
  'missing-fields',
  'other-chipid',
  'binary',
  'bad-utf8',
  'rsv-frame',
  'big-frame',
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

/** Milliseconds between two troubles. */
const PAUSE = { low: 500, high: 3500 };

/**
 * Starts trouble on the network and in the service, as the dice have it.
 * @param isPublic whether the service answers as the public server did
 * @param chipids the devices whose uploads count
 * @param upload lets a device upload, and writes down that the service has accepted it
 */
export function startChaos(
  simulator: Simulator,
  front: Front,
  dice: Dice,
  isPublic: boolean,
  chipids: readonly string[],
  upload: (chipid: string, body: string, how?: UploadOptions) => void,
): Chaos {
  const counts = new Map<string, number>();
  const lifts = new Map<NodeJS.Timeout, () => void>();
  const roll = (sides: number): number => dice.roll(sides);
  const share = (): number => 1 + roll(Math.ceil(chipids.length / 6));

  // What could not be read is recovered a little later, so only where nobody looks at the order.
  const unordered = chipids.filter((_, index) => !isUnique(mannerOf(index)));

  const lasting = (name: FaultName, ms: number): void => {
    const lift = simulator.fail(name, HISTORY);
    const timer = setTimeout(() => {
      lifts.delete(timer);
      lift();
    }, ms);
    lifts.set(timer, lift);
  };

  const small = [...chipids];
  let serial = 0;
  const uploadOverLimit = (): boolean => {
    if (small.length === 0 || chipids.length - small.length === MOST_OVER_LIMIT) return false;
    const [chipid = ''] = small.splice(roll(small.length), 1);
    upload(chipid, `large ${chipid} ${'x'.repeat(OVER_LIMIT)}`);
    return true;
  };
  const uploadDeep = (): void =>
    upload(dice.pick(chipids), `${'['.repeat(DEEP)}"deep ${++serial}"${']'.repeat(DEEP)}`);
  /** As firmware does that was not connected: a higher id, and an older time. */
  const uploadLate = (): void =>
    upload(dice.pick(unordered), `late ${++serial}`, {
      made: Date.now() - dice.between(1e3, 60e3),
    });
  const uploadSerialData = (): void =>
    void simulator.upload(dice.pick(chipids), '21.5', { type: 'uart_trans' });

  /** A trouble that says false has not come. */
  const troubles: [weight: number, name: string, begin: () => unknown][] = [
    [4, 'connections reset', () => front.cut(share(), true, roll)],
    [4, 'connections closed', () => front.cut(share(), false, roll)],
    [3, 'connections silent', () => front.silence(share(), dice.between(8e3, 15e3), false, roll)],
    [3, 'connections stalled', () => front.silence(share(), dice.between(1e3, 7e3), true, roll)],
    [1, 'service restarted', () => front.restart(dice.between(200, 4000))],
    [4, 'channel closed', () => simulator.disconnect(dice.pick(chipids), dice.pick(CLOSE_CODES))],
    [1, 'all channels closed', () => simulator.disconnect(undefined, dice.pick(CLOSE_CODES))],
    [
      2,
      'upgrades refused',
      () => void simulator.fail(dice.pick(UPGRADE_FAULTS), { times: share() }),
    ],
    [1, 'upgrades unanswered', () => void simulator.fail('hang-upgrade', { times: 1 + roll(3) })],
    [
      4,
      'histories failed',
      () => void simulator.fail(dice.pick(HISTORY_FAULTS), { ...HISTORY, times: share() }),
    ],
    [
      2,
      'histories unanswered',
      () =>
        void simulator.fail(dice.pick<FaultName>(['hang', 'trickle', 'slow-headers']), {
          ...HISTORY,
          times: 1 + roll(3),
        }),
    ],
    [
      unordered.length > 0 ? 2 : 0,
      'events unreadable',
      () =>
        void simulator.fail(dice.pick(EVENT_FAULTS), {
          chipid: dice.pick(unordered),
          times: 1 + roll(3),
        }),
    ],
    [2, 'uploads nested deeply', uploadDeep],
    [isPublic && unordered.length > 0 ? 4 : 0, 'uploads that come late', uploadLate],
    [isPublic ? 4 : 0, 'data of the serial mode', uploadSerialData],
    [1, 'uploads over the limit', uploadOverLimit],
    [isPublic ? 2 : 0, 'lists without a gateway', () => void simulator.fail('no-gateway', { ...LIST, times: 1 + roll(5) })], // prettier-ignore
    [3, 'lists failed', () => void simulator.fail(dice.pick(LIST_FAULTS), { ...LIST, times: 1 + roll(5) })], // prettier-ignore
    [1, 'lists unanswered', () => void simulator.fail('hang', { ...LIST, times: 1 })],
    [6, 'pushes answered wrongly', () => void simulator.fail(dice.pick(PUSH_FAULTS), { ...PUSH, times: 2 + roll(6) })], // prettier-ignore
    [1, 'history down', () => lasting('server-error', dice.between(2e3, 12e3))],
  ];
  const cards = troubles.flatMap((trouble) => Array<typeof trouble>(trouble[0]).fill(trouble));

  // Each kind once, in whatever order, before any comes again.
  const first = troubles.filter(([weight]) => weight > 0);
  const draw = (): (typeof troubles)[number] =>
    first.splice(roll(first.length), 1)[0] ?? dice.pick(cards);

  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(
      () => {
        const [, name, begin] = draw();
        if (begin() !== false) counts.set(name, (counts.get(name) ?? 0) + 1);
        next();
      },
      dice.between(PAUSE.low, PAUSE.high),
    );
  };
  next();

  return {
    counts,
    async stop() {
      clearTimeout(timer);
      for (const lift of lifts.keys()) clearTimeout(lift);
      lifts.clear();
      simulator.heal();
      simulator.rewriteHistory();
      await front.heal();
    },
  };
}
