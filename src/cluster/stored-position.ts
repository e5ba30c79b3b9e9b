import { isPosition, type Position } from '../recovery/position';

/** Longer than any position: one with the keys of 10,000 uploads. */
const LONGEST = 8 * 1024 * 1024;

/** A position as the cluster keeps it. */
export const positionToText = (position: Position): string => JSON.stringify(position);

/**
 * Reads a position that any process has stored.
 * @returns undefined if no position is stored yet, `invalid` if the text was not written by this package
 */
export function positionFromText(text: string | undefined): Position | 'invalid' | undefined {
  if (text === undefined || text === '') return undefined;
  if (text.length > LONGEST) return 'invalid';
  try {
    const value: unknown = JSON.parse(text);
    return isPosition(value) ? value : 'invalid';
  } catch {
    return 'invalid';
  }
}
