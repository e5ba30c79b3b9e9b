import type { KeeperOptions, PinKeeper } from '../commands/kept-pin';
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
  readonly #cluster: Cluster;
  readonly #bus: Bus;
  readonly #own = new Map<string, KeeperOptions>();
  readonly #ending = new Set<string>();
  /** Those of them that another process has, and the processes that have answered, since they were last asked. */
  readonly #kept = new Set<string>();
  readonly #answered = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;
  /** Ends what keepers have kept. */
  onOver: ((isOver: (keeper: string) => boolean) => Promise<void>) | undefined;

  constructor(cluster: Cluster, bus: Bus) {
    this.#cluster = cluster;
    this.#bus = bus;
    bus.on('who keeps', ({ ids }, from) => {
      const kept = textsOf(ids).filter((id) => this.#own.has(id));
      bus.post(from, 'keeps', { ids: kept, isAnswer: true });
    });
    bus.on('keeps', ({ ids, isAnswer }, from) => {
      for (const id of textsOf(ids)) if (this.#ending.has(id)) this.#kept.add(id);
      if (isAnswer === true) this.#answered.add(from);
    });
  }

  get size(): number {
    return this.#own.size;
  }

  get(id: string): KeeperOptions | undefined {
    return this.#own.get(id);
  }

  add(options: KeeperOptions): string {
    const id = keeperIdOf(options.keeper);
    this.#ending.delete(id);
    // Another process may have been answered just before.
    if (!this.#own.has(id)) this.#bus.post(undefined, 'keeps', { ids: [id] });
    this.#own.set(id, options);
    return id;
  }

  delete(keeper: PinKeeper): void {
    const id = keeperIdOf(keeper);
    if (this.#own.get(id)?.keeper === keeper) this.#own.delete(id);
  }

  /** What a keeper has kept ends, once no process has it. */
  end(id: string): void {
    if (id === '' || this.#isClosed) return;
    this.#ending.add(id);
    this.#schedule(0);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
  }

  #schedule(ms: number): void {
    this.#timer ??= setTimeout(() => {
      const asked = [...this.#ending].slice(0, MOST_DEVICES);
      this.#kept.clear();
      this.#answered.clear();
      this.#bus.post(undefined, 'who keeps', { ids: asked });
      this.#timer = setTimeout(() => void this.#decide(asked), PATIENCE);
    }, ms);
  }

  /** Never rejects. */
  async #decide(asked: readonly string[]): Promise<void> {
    const { member, members, state } = this.#cluster;
    const isCertain =
      state === 'member' &&
      members.includes(member) &&
      members.every((each) => each === member || this.#answered.has(each));
    const over = new Set(isCertain ? asked.filter((id) => !this.#kept.has(id)) : []);
    try {
      if (over.size > 0) await this.onOver?.((id) => over.has(id) && this.#ending.has(id));
      for (const id of over) this.#ending.delete(id);
    } catch {
      // The engine cannot be reached.
    }
    this.#timer = undefined;
    if (this.#ending.size > 0 && !this.#isClosed) this.#schedule(RETRY);
  }
}
