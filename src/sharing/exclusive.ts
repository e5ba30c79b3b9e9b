import type { Cluster } from '../cluster/cluster';
import type { CommandCaller } from '../http/device-queues';
import { AWAITING_CLUSTER, CALLING } from '../http/progress';

/** How long a command waits for those of other processes, in ms: long enough for several without an answer. */
const PATIENCE = 60_000;

/**
 * Runs a command to a device while no other process of the cluster sends one.
 * @param longest the most milliseconds that it takes
 * @throws DeviceCloudError `UNREACHABLE`: it was not sent
 */
export type Exclusive = <T>(
  chipid: string,
  longest: number,
  caller: CommandCaller,
  command: () => Promise<T>,
) => Promise<T>;

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

  readonly run: Exclusive = (chipid, longest, { signal, progress }, command) => {
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
