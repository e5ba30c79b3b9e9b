import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoff } from '../util/backoff';
import type { Command } from './queue';
import type { CommandWait, OtherCommands, Turn } from './waiting-list';

/** Pauses between two looks whose turn it is, in ms. */
const PAUSE = { shortest: 20, longest: 250 };

/** Milliseconds in which another process that has heard the device, too, begins. If it has not, the rest waits on. */
const PATIENCE = 3000;

interface Waiting {
  readonly command: Command;
  readonly wait: CommandWait;
  readonly isWaiting: boolean;
  readonly isSaved: boolean;
}

/** A device that has shown itself, and its commands in the order of arrival. */
interface Shown<W extends Waiting> {
  readonly chipid: string;
  readonly all: readonly W[];
  /** When a call to it got no answer. */
  readonly lostAt: number;
}

interface Sign {
  /** Whether it is the list alone. */
  readonly isListed: boolean;
  /** As of {@link Shown}: a call that gets no answer later outdates it. */
  readonly lostAt: number;
  /** When it came, or a command of another process was last seen to run. */
  at: number;
}

interface TurnsDeps<W> {
  others: Pick<OtherCommands, 'turn'>;
  /** Has a command carried out. */
  add: (command: Command) => void;
  /** Writes a command down, so that it has its place among those of other processes. */
  save: (waiting: W) => Promise<void>;
}

/**
 * Has the commands of a device carried out that has shown itself: each after those of other processes that came before it.
 * None of them is in the device's queue meanwhile, so that it holds up nothing if the other process has not heard the device.
 */
export class Turns<W extends Waiting> {
  readonly #deps: TurnsDeps<W>;
  readonly #signs = new Map<Shown<W>, Sign>();
  readonly #closing = new AbortController();

  constructor(deps: TurnsDeps<W>) {
    this.#deps = deps;
    // One for each device that has shown itself.
    setMaxListeners(0, this.#closing.signal);
  }

  /** The device has shown itself. @param isListed by the list alone */
  release(device: Shown<W>, isListed: boolean): void {
    const { lostAt } = device;
    const before = this.#signs.get(device);
    const isOnlyListed = isListed && (before?.lostAt !== lostAt || before.isListed);
    this.#signs.set(device, { isListed: isOnlyListed, lostAt, at: performance.now() });
    if (!before) void this.#take(device);
  }

  close(): void {
    this.#closing.abort();
  }

  /** Never rejects. */
  async #take(device: Shown<W>): Promise<void> {
    const { signal } = this.#closing;
    for (let attempt = 0; !signal.aborted; attempt++) {
      const sign = this.#signs.get(device);
      if (sign?.lostAt !== device.lostAt) break;
      const began = performance.now();
      const isPatient = began - sign.at < PATIENCE;
      try {
        const other = await this.#step(device, sign, isPatient);
        // It takes long while the calls of another process are taken over, which may be first.
        sign.at += performance.now() - began;
        if (other === 'none' || (other === 'waits' && !isPatient)) {
          if (this.#signs.get(device) === sign) break;
          continue;
        }
        if (other === 'begun') sign.at = performance.now();
      } catch {
        // They wait for the next sign of life.
        break;
      }
      const pause = backoff(attempt, PAUSE.shortest, PAUSE.longest, Math.random, 0.5);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
    this.#signs.delete(device);
  }

  /**
   * Adds the commands whose turn it is. @returns what the remaining ones wait for; `none` if none remains
   * @param isPatient whether calls are waited for that this process has taken over and does not have yet
   */
  async #step(
    device: Shown<W>,
    { isListed, lostAt }: Sign,
    isPatient: boolean,
  ): Promise<Turn['other']> {
    const isReleased = ({ isWaiting, wait }: W): boolean =>
      isWaiting && (!isListed || wait.when === 'online');
    if (!device.all.some(isReleased)) return 'none';
    const turn = await this.#deps.others.turn(device.chipid, isListed);
    const own = new Set(device.all.map(({ wait }) => wait.origin?.kept?.id));
    const missing = isPatient ? turn.ids.findIndex((id) => !own.has(id)) : -1;
    const { ids, other } =
      missing < 0 ? turn : { ids: turn.ids.slice(0, missing), other: 'waits' as const };
    for (const waiting of device.all.filter(isReleased)) {
      if (this.#closing.signal.aborted || device.lostAt !== lostAt) return 'none';
      const { kept } = waiting.wait.origin ?? {};
      if (other !== 'none' && kept && !ids.includes(kept.id)) {
        if (!waiting.isSaved) await this.#deps.save(waiting);
        return other;
      }
      if (waiting.isWaiting) this.#deps.add(waiting.command);
    }
    return 'none';
  }
}
