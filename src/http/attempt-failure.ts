/**
 * What a failed attempt says about the service:
 * - `refusal`: it asks for less.
 * - `timeout`: it has not answered in time.
 * - `failure`: it, or a gateway before it, broke. Perhaps from load, perhaps for this device alone.
 * - `absence`: nothing is there to be overloaded.
 * - `unrelated`: it has answered, or the fault is on this side: keys, certificate, address, files.
 */
export type AttemptFailure = 'refusal' | 'timeout' | 'failure' | 'absence' | 'unrelated';

const CODES: ReadonlyMap<string, AttemptFailure> = new Map([
  ['ETIMEDOUT', 'timeout'],
  ['ECONNRESET', 'failure'],
  ['ECONNABORTED', 'failure'],
  ['EPIPE', 'failure'],
  ['1006', 'failure'],
  ['ECONNREFUSED', 'absence'],
  ['EHOSTUNREACH', 'absence'],
  ['EHOSTDOWN', 'absence'],
  ['ENETUNREACH', 'absence'],
  ['ENETDOWN', 'absence'],
  ['ENOTFOUND', 'absence'],
  ['EAI_AGAIN', 'absence'],
]);

/** A status of the service, or of the proxy before it. */
const STATUS = /^(?:PROXY_)?(\d{3})$/;

/** @param reason HTTP status, error code or close code of an attempt that failed */
export function attemptFailure(reason: string): AttemptFailure {
  const status = Number(STATUS.exec(reason)?.[1] ?? 0);
  if (status === 429 || status === 503) return 'refusal';
  if (status >= 500) return 'failure';
  return CODES.get(reason) ?? 'unrelated';
}
