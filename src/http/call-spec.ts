import type { BodyReader, HttpRequest } from './exchange';
import type { Call, Refusal, StatusMeaning } from './failures';

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
   * Reads the body of a success, which is not empty; default: as JSON.
   * @throws SyntaxError if the body must be JSON and is not
   */
  decode?: (body: Buffer, statusCode: number) => unknown;
  /** Why an answer of the right shape is not a success; undefined if it is one. */
  refusal?: ((answer: T) => Refusal | undefined) | undefined;
  /** What makes it doubtful that a success is one, as a sentence without secrets. */
  warning?: ((answer: T) => string | undefined) | undefined;
  /** What a status that is not a success means to this call; undefined: what it usually means. */
  meaning?: (statusCode: number, said: string | undefined) => StatusMeaning | undefined;
  /**
   * Reads the body of a success while it arrives, however long it is. The time-out then runs until the first bytes,
   * and again while the answer makes progress; once something was passed on the call is not repeated.
   */
  reader?: BodyReader;
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
