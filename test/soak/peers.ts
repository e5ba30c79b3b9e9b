import type { Simulator } from '../../src/simulator';
import type { Dice } from './dice';

/** How many devices come and go. Half of them reply to requests and get commands that wait for them. */
export const PEERS = 12;

/** Milliseconds that they take to answer a call. */
export const PEERS_ANSWER = 50;

/** Milliseconds that a device is awake or asleep: some flap between two readings of the list. */
const SPELL = { shortest: 200, longest: 6000 };

/**
 * Lets devices fall asleep and wake, each on its own. One that wakes uploads.
 * @returns wakes all of them for good
 */
export function startSleeping(
  simulator: Simulator,
  peers: readonly string[],
  dice: Dice,
): () => void {
  const timers = new Map<string, NodeJS.Timeout>();
  const next = (chipid: string, isAwake: boolean): void => {
    const turn = (): void => {
      if (isAwake) simulator.sleep(chipid);
      else simulator.wake(chipid);
      next(chipid, !isAwake);
    };
    timers.set(chipid, setTimeout(turn, dice.between(SPELL.shortest, SPELL.longest)));
  };
  for (const chipid of peers) next(chipid, true);
  return () => {
    for (const timer of timers.values()) clearTimeout(timer);
    for (const chipid of peers) simulator.wake(chipid);
  };
}

/** How often the devices got each push, by its serial. */
export function actedOn(simulator: Simulator, peers: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const chipid of peers) {
    for (const { text = '' } of simulator.device(chipid).received) {
      const { id } = JSON.parse(text) as { id: string };
      counts[id] = (counts[id] ?? 0) + 1;
    }
  }
  return counts;
}
