import type { Cluster } from './cluster';
import type { CommandLock } from '../commands/lock';
import { AWAITING_CLUSTER, CALLING } from '../commands/outcome';

/** How long a command waits for those of other processes, in ms: long enough for several without an answer. */
const PATIENCE = 60_000;

/** The commands of a client, one at a time per device in all processes. */
export class ExclusiveCommands {
  private isClosed = false;

  /**
   * @param gap milliseconds between two commands to one device
   * @param explain why a signal aborted, without secrets
   */
  constructor(
    private readonly cluster: Cluster,
    private readonly gap: number,
    private readonly explain: (signal: AbortSignal) => string,
  ) {}

  readonly run: CommandLock = (chipid, longest, { signal, progress }, command) => {
    const times = { call: longest, patience: PATIENCE, gap: this.gap };
    let hasWaited = false;
    const call = (): ReturnType<typeof command> => {
      if (hasWaited) progress?.(CALLING);
      return command();
    };
    return this.cluster.withLock(chipid, times, call, {
      onWait() {
        hasWaited = true;
        progress?.(AWAITING_CLUSTER);
      },
      ended: () => {
        if (this.isClosed) return 'the client was closed';
        return signal?.aborted ? this.explain(signal) : undefined;
      },
    });
  };

  /** Ends the waiting commands. */
  close(): void {
    this.isClosed = true;
  }
}
