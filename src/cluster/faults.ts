import { isolated } from '../util/thrown';
import { type Clock, StoreError, type Store } from './store';
import type { ClusterListener, ClusterProblem } from './types';

/** Milliseconds between two reports of one kind. */
const REPORT_EVERY = 60_000;

/** Milliseconds between two checks of the user's rights: usually, and while a failure has to be explained. */
const CHECK_EVERY = { usually: 60_000, explaining: 1000 };

const FORBIDDEN =
  "The user of the cluster's engine is not allowed all that is needed; missing in its ACL: ";

/** Calls listeners, whose errors go no further. */
export function callEach<L>(
  listeners: ReadonlySet<readonly [L]>,
  call: (listener: L) => void,
): void {
  for (const [listener] of listeners) isolated(() => call(listener));
}

/** Reports faults of the engine, of its settings and of other processes. */
export class Faults {
  /** The setting that keeps this process from the engine; undefined as long as waiting may help. */
  problem: ClusterProblem | undefined;
  readonly #store: Pick<Store, 'forbidden'>;
  readonly #clock: Clock;
  readonly #listeners: ReadonlySet<readonly [ClusterListener]>;
  /** When a fault of each kind was last reported. */
  readonly #reported = new Map<string, number>();
  #checkedAt = -Infinity;
  #hasCheckFailed = false;

  constructor(
    store: Pick<Store, 'forbidden'>,
    clock: Clock,
    listeners: ReadonlySet<readonly [ClusterListener]>,
  ) {
    this.#store = store;
    this.#clock = clock;
    this.#listeners = listeners;
  }

  /** Reports a fault; each kind once a minute. */
  report(fault: string, kind: string): void {
    if (this.#listeners.size === 0) return;
    const now = this.#clock.monotonic();
    if (now - (this.#reported.get(kind) ?? -Infinity) < REPORT_EVERY) return;
    this.#reported.set(kind, now);
    callEach(this.#listeners, (listener) => listener.onFault?.(fault, kind));
  }

  /** Reports why beats or writes fail. */
  failed(error: unknown): void {
    const why = error instanceof Error ? error.message : `${String(error)}.`;
    const { wrong, isRefusal = false } = error instanceof StoreError ? error : {};
    this.#setProblem(wrong && { setting: wrong, message: why });
    if (isRefusal) this.#checkRights(CHECK_EVERY.explaining);
    const what = isRefusal ? 'answers, but does not work' : 'cannot be reached';
    this.report(`The cluster ${what}: ${why}`, 'away');
  }

  /** The engine has answered a beat. */
  answered(): void {
    this.#setProblem(undefined);
    this.#checkRights(CHECK_EVERY.usually);
  }

  /** Checks from time to time whether the user may do all that is needed: some of it is rare, or fails unnoticed. */
  #checkRights(every: number): void {
    const now = this.#clock.monotonic();
    if (now - this.#checkedAt < (this.#hasCheckFailed ? CHECK_EVERY.explaining : every)) return;
    this.#checkedAt = now;
    this.#store.forbidden().then(
      (rights) => {
        this.#hasCheckFailed = false;
        if (rights.length > 0) this.report(`${FORBIDDEN}${rights.join(' ')}.`, 'forbidden');
      },
      () => (this.#hasCheckFailed = true),
    );
  }

  #setProblem(problem: ClusterProblem | undefined): void {
    const before = this.problem;
    this.problem = problem;
    if (before?.message !== problem?.message)
      callEach(this.#listeners, (listener) => listener.onProblem?.(problem));
  }
}
