import type { FaultName, Simulator } from '../../src/simulator';
import type { Dice } from './dice';
import type { Front } from './front';
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
  'bad-base64',
  'missing-fields',
  'other-chipid',
  'binary',
  'bad-utf8',
  'rsv-frame',
  'big-frame',
];
const HISTORY = { path: 'up_messages' };

/** Milliseconds between two troubles. */
const PAUSE = { low: 500, high: 3500 };

/** Starts trouble on the network and in the service, as the dice have it. */
export function startChaos(simulator: Simulator, front: Front, dice: Dice): Chaos {
  const counts = new Map<string, number>();
  const lifts = new Map<NodeJS.Timeout, () => void>();
  const chipids = [...simulator.devices.keys()];
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

  const troubles: [weight: number, name: string, begin: () => void][] = [
    [4, 'connections reset', () => front.cut(share(), true, roll)],
    [4, 'connections closed', () => front.cut(share(), false, roll)],
    [3, 'connections silent', () => front.silence(share(), dice.between(8e3, 15e3), false, roll)],
    [3, 'connections stalled', () => front.silence(share(), dice.between(1e3, 7e3), true, roll)],
    [1, 'service restarted', () => front.restart(dice.between(200, 4000))],
    [4, 'channel closed', () => simulator.disconnect(dice.pick(chipids), { code: dice.pick(CLOSE_CODES) })], // prettier-ignore
    [1, 'all channels closed', () => simulator.disconnect(undefined, { code: dice.pick(CLOSE_CODES) })], // prettier-ignore
    [2, 'upgrades refused', () => void simulator.fail(dice.pick(UPGRADE_FAULTS), { times: share() })], // prettier-ignore
    [1, 'upgrades unanswered', () => void simulator.fail('hang-upgrade', { times: 1 + roll(3) })],
    [4, 'histories failed', () => void simulator.fail(dice.pick(HISTORY_FAULTS), { ...HISTORY, times: share() })], // prettier-ignore
    [2, 'histories unanswered', () => void simulator.fail(dice.pick<FaultName>(['hang', 'trickle', 'slow-headers']), { ...HISTORY, times: 1 + roll(3) })], // prettier-ignore
    [unordered.length > 0 ? 2 : 0, 'events unreadable', () => void simulator.fail(dice.pick(EVENT_FAULTS), { chipid: dice.pick(unordered), times: 1 + roll(3) })], // prettier-ignore
    [1, 'history down', () => lasting('server-error', dice.between(2e3, 12e3))],
  ];
  const cards = troubles.flatMap((trouble) => Array<typeof trouble>(trouble[0]).fill(trouble));

  let timer: NodeJS.Timeout;
  const next = (): void => {
    timer = setTimeout(
      () => {
        const [, name, begin] = dice.pick(cards);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        begin();
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
      await front.heal();
    },
  };
}
