/** In the reader's language; one that the browser does not know becomes its own. */
function inLanguage<T>(make: (language: string | undefined) => T): T {
  try {
    return make(RED.i18n.lang());
  } catch {
    return make(undefined);
  }
}

let ages: Intl.RelativeTimeFormat | undefined;

const UNITS: readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
];

/** How long ago something was, such as `12 s ago`. @param now in ms, by the same clock */
export function ageText(at: number, now: number): string {
  ages ??= inLanguage((language) => new Intl.RelativeTimeFormat(language, { style: 'short' }));
  const seconds = Math.max(0, Math.round((now - at) / 1000));
  const [size, unit] = UNITS.find(([least]) => seconds >= least) ?? [1, 'second'];
  return ages.format(-Math.floor(seconds / size), unit);
}

/** A time as people here write it. */
export const timeText = (at: number): string =>
  inLanguage((language) => new Date(at).toLocaleString(language));
