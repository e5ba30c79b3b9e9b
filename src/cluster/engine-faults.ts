import type { Clock } from './clock';
import { StoreError, type Store } from './store';
import type { ClusterProblem } from './types';

/** Milliseconds between two checks of the user's rights: usually, and while a failure has to be explained. */
const EVERY = { usually: 60_000, explaining: 1000 };

const FORBIDDEN =
  "the user of the cluster's engine is not allowed all that is needed; missing in its ACL: ";

export interface EngineFaultsOptions {
  readonly store: Pick<Store, 'forbidden'>;
  readonly clock: Clock;
  /** Called with a text for the log, and its kind; throws nothing. */
  readonly report: (fault: string, kind: string) => void;
  /** Called when {@link EngineFaults.problem} has changed; throws nothing. */
  readonly changed: (problem: ClusterProblem | undefined) => void;
}

/** Reports faults of the engine and of its settings. */
export class EngineFaults {
  problem: ClusterProblem | undefined;
  readonly #options: EngineFaultsOptions;
  #last = -Infinity;
  #hasFailed = false;

  constructor(options: EngineFaultsOptions) {
    this.#options = options;
  }

  /** Reports why beats fail. */
  failed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const { wrong, isRefusal = false } = error instanceof StoreError ? error : {};
    this.#setProblem(wrong && { setting: wrong, message: why });
    if (isRefusal) this.#checkRights(EVERY.explaining);
    const what = isRefusal ? 'answers, but does not work' : 'cannot be reached';
    this.#options.report(`the cluster ${what}: ${why}`, 'away');
  }

  /** The engine has answered a beat. */
  answered(): void {
    this.#setProblem(undefined);
    this.#checkRights(EVERY.usually);
  }

  /** Checks from time to time whether the user may do all that is needed: some of it is rare, or fails unnoticed. */
  #checkRights(every: number): void {
    const { store, clock, report } = this.#options;
    const pause = this.#hasFailed ? EVERY.explaining : every;
    if (clock.monotonic() - this.#last < pause) return;
    this.#last = clock.monotonic();
    store.forbidden().then(
      (rights) => {
        this.#hasFailed = false;
        if (rights.length > 0) report(FORBIDDEN + rights.join(' '), 'forbidden');
      },
      () => (this.#hasFailed = true),
    );
  }

  #setProblem(problem: ClusterProblem | undefined): void {
    const before = this.problem;
    this.problem = problem;
    if (before?.message !== problem?.message) this.#options.changed(problem);
  }
}
