import type { Clock } from './clock';
import { StoreError, type Store, type WrongSetting } from './store';

/** Milliseconds between two checks of the user's rights: usually, and while a failure has to be explained. */
const EVERY = { usually: 60_000, explaining: 1000 };

const FORBIDDEN =
  "the user of the cluster's engine is not allowed all that is needed; missing in its ACL: ";

/** A wrong setting that keeps a process from the engine until somebody changes it. */
export interface ClusterProblem {
  /** Which one: the user or the password, the user's rights, or TLS. */
  readonly setting: WrongSetting;
  /** The engine's words, without secrets. */
  readonly message: string;
}

export interface EngineFaultsOptions {
  readonly store: Pick<Store, 'forbidden'>;
  readonly clock: Clock;
  /** Called with a text for the log, and its kind; throws nothing. */
  readonly report: (fault: string, kind: string) => void;
  /** Called when {@link EngineFaults.problem} has changed; throws nothing. */
  readonly changed: () => void;
}

/** Reports what is wrong with the engine. */
export class EngineFaults {
  problem: ClusterProblem | undefined;
  private last = -Infinity;
  private hasFailed = false;

  constructor(private readonly options: EngineFaultsOptions) {}

  /** Reports why beats fail. */
  failed(error: unknown): void {
    const why = error instanceof Error ? error.message : String(error);
    const setting = error instanceof StoreError ? error.wrong : undefined;
    this.setProblem(setting && { setting, message: why });
    const isRefusal = error instanceof StoreError && error.isRefusal;
    if (isRefusal) this.checkRights(EVERY.explaining);
    const what = isRefusal ? 'answers, but does not work' : 'cannot be reached';
    this.options.report(`the cluster ${what}: ${why}`, 'away');
  }

  /** The engine has answered a beat. */
  answered(): void {
    this.setProblem(undefined);
    this.checkRights();
  }

  /** Checks from time to time whether the user may do all that is needed: some of it is rare, or fails unnoticed. */
  checkRights(every = EVERY.usually): void {
    const { store, clock, report } = this.options;
    const pause = this.hasFailed ? EVERY.explaining : every;
    if (clock.monotonic() - this.last < pause) return;
    this.last = clock.monotonic();
    store.forbidden().then(
      (rights) => {
        this.hasFailed = false;
        if (rights.length > 0) report(FORBIDDEN + rights.join(' '), 'forbidden');
      },
      () => (this.hasFailed = true),
    );
  }

  private setProblem(problem: ClusterProblem | undefined): void {
    const before = this.problem;
    this.problem = problem;
    if (before?.message !== problem?.message) this.options.changed();
  }
}
