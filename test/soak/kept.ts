import type { HistoryEncoding } from '../../src/simulator';

const SPACES = [' ', '\t', '\n', '\v', '\f', '\r'];

/** Whether a history does not keep what was uploaded. */
export const isLossy = (history: HistoryEncoding): boolean =>
  history === 'trimmed' || history === 'tagged';

/**
 * What a history keeps of an upload, as far as a client can tell: written down here once more, so that the
 * simulator is not checked with its own code.
 */
export function keptAs(history: HistoryEncoding, body: string): string {
  if (!isLossy(history)) return body;
  let [from, to] = [0, body.length];
  while (from < to && SPACES.includes(body.charAt(from))) from++;
  while (to > from && SPACES.includes(body.charAt(to - 1))) to--;
  const trimmed = body.slice(from, to);
  if (history === 'trimmed') return trimmed;
  const [first = '', ...rest] = trimmed.split(',');
  return rest.length === 0 ? first : rest.join('');
}
