/** An attempt to connect or to read, from its place in the queue on. One of these calls ends it. */
export interface PacedAttempt {
  /** The service accepted it: a handshake succeeded, or an answer came. */
  succeeded(): void;
  /**
   * It failed.
   * @param reason HTTP status, error code or close code
   * @param retryAfter milliseconds for which the service asks to wait
   */
  failed(reason: string, retryAfter?: number): void;
  /** Leaves the queue; those behind move up. Or gives the attempt up. */
  cancel(): void;
}

/** The limiter to which an attempt passes its calls. */
interface Owner {
  succeeded(attempt: Attempt): void;
  failed(attempt: Attempt, reason: string, retryAfter?: number): void;
  cancel(attempt: Attempt): void;
}

/** A class, since there are thousands after a restart. */
export class Attempt implements PacedAttempt {
  /** When its turn came, and how long the process had been idle by then, in ms. */
  began = NaN;
  idleBefore = NaN;

  constructor(
    private readonly owner: Owner,
    readonly turn: () => void,
  ) {}

  succeeded(): void {
    this.owner.succeeded(this);
  }

  failed(reason: string, retryAfter?: number): void {
    this.owner.failed(this, reason, retryAfter);
  }

  cancel(): void {
    this.owner.cancel(this);
  }
}
