/** An attempt to connect, from its place in the queue on. One of these calls ends it. */
export interface ConnectAttempt {
  /** The handshake has succeeded. */
  opened(): void;
  /**
   * The handshake has failed.
   * @param reason HTTP status, error code or close code
   * @param retryAfter milliseconds for which the service asks to wait
   */
  failed(reason: string, retryAfter?: number): void;
  /** Leaves the queue; those behind move up. Or gives the attempt up. */
  cancel(): void;
}

/** Who takes the calls of an attempt. */
interface Owner {
  opened(attempt: Attempt): void;
  failed(attempt: Attempt, reason: string, retryAfter?: number): void;
  cancel(attempt: Attempt): void;
}

/** A class, since there are thousands after a restart. */
export class Attempt implements ConnectAttempt {
  /** When its turn came, and how long the process had been idle by then, in ms. */
  began = NaN;
  idleBefore = NaN;

  constructor(
    private readonly owner: Owner,
    readonly turn: () => void,
  ) {}

  opened(): void {
    this.owner.opened(this);
  }

  failed(reason: string, retryAfter?: number): void {
    this.owner.failed(this, reason, retryAfter);
  }

  cancel(): void {
    this.owner.cancel(this);
  }
}
