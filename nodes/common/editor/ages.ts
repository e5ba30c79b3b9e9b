import { t } from './catalogue';

/** Units of an age, the longest first, in seconds. */
const UNITS = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
] as const;

/**
 * How long ago something was, in one unit: `12 s ago`, `5 min ago`.
 * @param at Unix time in milliseconds, by the clock of this browser
 */
export function ageText(at: number, now = Date.now()): string {
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  const [unit, length] = UNITS.find(([, least]) => seconds >= least) ?? ['s', 1];
  return t(`common.age.${unit}`, { n: Math.floor(seconds / length) });
}

/** The same moment as a date and a time where the reader is, in the editor's language. */
export function localTime(at: number): string {
  try {
    return new Date(at).toLocaleString(RED.i18n.lang());
  } catch {
    // The browser does not know that language.
    return new Date(at).toLocaleString();
  }
}
