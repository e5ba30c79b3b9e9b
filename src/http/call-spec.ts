import type { HttpRequest } from './exchange';
import type { Call, Refusal } from './failures';

/** One call: how to sign its request, and what its answer has to be. */
export interface CallSpec<T> {
  call: Call;
  /** Makes the request, freshly signed each time. */
  build: () => HttpRequest;
  /** Which statuses are a success. */
  succeeds: (statusCode: number) => boolean;
  /** The shape of the answer's JSON. */
  accepts: Shape<T>;
  /**
   * Whether the shapes of the interface's answers are not shown, as of interface A (section 4.1: any
   * 2XX is a success). An answer without a body is then null, one that is not JSON is its text, and an
   * error of any form is repeated.
   */
  anyText?: boolean;
  /** Why an answer of the right shape is not a success; undefined if it is one. */
  refusal?: ((answer: T) => Refusal | undefined) | undefined;
  /** The longest answer that is read, in bytes; 64 MiB if left out. */
  maxAnswer?: number;
  /** Set if the caller paces its attempts: then the call is not repeated, even if it only reads. */
  paced?: {
    /** Is called with the milliseconds for which an answer that failed asks to wait. */
    onRetryAfter: ((wait: number) => void) | undefined;
  };
}

/** The shape that an answer must have. */
export interface Shape<T> {
  is: (value: unknown) => value is T;
  /** What it is, for the error: `an array of objects`. */
  name: string;
}
