import { setTimeout as sleep } from 'node:timers/promises';
import type { KeeperOptions, PinKeeper } from '../commands/wanted-pin';
import type { Cluster } from './cluster';
import { MOST_DEVICES, textsOf, type Bus } from './messages';

/** Milliseconds in which the other processes answer; one that is being deployed has its nodes again by then. */
const PATIENCE = 1000;

/** Milliseconds until they are asked again, if one of them has not answered or still has the keeper. */
const RETRY = 2000;

export const keeperIdOf = ({ id = '' }: PinKeeper): string => id;

/**
 * The keepers of this process's pins, by their ids, and those that it has no more. What these have kept ends once no process has
 * them: flows are deployed to one process after the other, and a process that starts with an old flow must not end what the
 * others keep. So each process has to say so, and one that is silent is asked again.
 */
export class Keepers {
  readonly own = new Map<string, KeeperOptions>();
  readonly #cluster: Cluster;
  readonly #bus: Bus;
  readonly #ending = new Set<string>();
  /** Those of them that another process has, and the processes that have answered, since they were last asked. */
  readonly #kept = new Set<string>();
  readonly #answered = new Set<string>();
  readonly #closed = new AbortController();
  #isAsking = false;
  /** Ends what keepers have kept. */
  onOver: ((isOver: (keeper: string) => boolean) => Promise<unknown>) | undefined;

  constructor(cluster: Cluster, bus: Bus) {
    this.#cluster = cluster;
    this.#bus = bus;
    bus.on('who keeps', ({ ids }, from) => {
      const kept = textsOf(ids).filter((id) => this.own.has(id));
      bus.post(from, 'keeps', { ids: kept, isAnswer: true });
    });
    bus.on('keeps', ({ ids, isAnswer }, from) => {
      for (const id of textsOf(ids)) if (this.#ending.has(id)) this.#kept.add(id);
      if (isAnswer === true) this.#answered.add(from);
    });
  }

  add(options: KeeperOptions): string {
    const id = keeperIdOf(options.keeper);
    this.#ending.delete(id);
    // Another process may have been answered just before.
    if (!this.own.has(id)) this.#bus.post(undefined, 'keeps', { ids: [id] });
    this.own.set(id, options);
    return id;
  }

  /** What a keeper has kept ends, once no process has it. */
  end(id: string): void {
    if (id === '' || this.#closed.signal.aborted) return;
    this.#ending.add(id);
    if (!this.#isAsking) void this.#ask();
  }

  close(): void {
    this.#closed.abort();
  }

  /** Asks until all have ended. Never rejects. */
  async #ask(): Promise<void> {
    const { signal } = this.#closed;
    this.#isAsking = true;
    try {
      for (let pause = 0; this.#ending.size > 0; pause = RETRY) {
        await sleep(pause, undefined, { signal });
        const asked = [...this.#ending].slice(0, MOST_DEVICES);
        this.#kept.clear();
        this.#answered.clear();
        this.#bus.post(undefined, 'who keeps', { ids: asked });
        await sleep(PATIENCE, undefined, { signal });
        const over = new Set(this.#isCertain ? asked.filter((id) => !this.#kept.has(id)) : []);
        if (over.size === 0) continue;
        // Fails if the engine cannot be reached; then it is asked again.
        const ended = this.onOver?.((id) => over.has(id) && this.#ending.has(id));
        if ((await ended?.catch(() => false)) === false) continue;
        for (const id of over) this.#ending.delete(id);
      }
    } catch {
      // It was closed.
    }
    this.#isAsking = false;
  }

  /** Whether all others have answered. */
  get #isCertain(): boolean {
    const { member, members, state } = this.#cluster;
    const others = members.filter((each) => each !== member);
    const hasAnswered = others.every((each) => this.#answered.has(each));
    return state === 'member' && others.length < members.length && hasAnswered;
  }
}
