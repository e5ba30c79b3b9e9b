import { UNPRINTABLE } from '../util/show';

/** Characters that pasting or an input method puts into a key, in the order in which they are looked for. */
const FAULTS = {
  'line-end': /[\n\v\f\r\u0085\u2028\u2029]/u,
  'full-width': /[\u3000\uff01-\uff5e]/u,
  blank: /[\t\p{Zs}]/u,
  invisible: new RegExp(UNPRINTABLE.source, 'u'),
} as const;

/** What looks wrong about a key. */
export type KeyFaultCode = keyof typeof FAULTS;

/** A fault of a key, and where it is. */
export interface KeyFault {
  /** What the key contains. */
  code: KeyFaultCode;
  /** Before the text of the key, after it, or within. */
  where: 'start' | 'end' | 'inside';
}

const CODES = Object.keys(FAULTS) as KeyFaultCode[];

const faultOf = (character: string): KeyFaultCode | undefined =>
  CODES.find((code) => FAULTS[code].test(character));

/** Full-width letters and digits belong to the text, in a wrong form; the other faults surround it. */
const isText = (fault: KeyFaultCode | undefined, character: string): boolean =>
  fault === undefined || (fault === 'full-width' && character !== '\u3000');

/**
 * Finds what makes a service refuse a key that looks right: blanks, line ends, full-width and invisible
 * characters. Any of them may belong to a key, so this is reason for a warning, not for an error.
 * @returns each fault once per place, in the order of the text; never a part of the key itself
 */
export function keyFaults(key: string): KeyFault[] {
  const characters = Array.from(key);
  const faults = characters.map(faultOf);
  const isTextAt = (index: number): boolean => isText(faults[index], characters[index] ?? '');
  const indexes = characters.map((_, index) => index);
  const first = indexes.find(isTextAt) ?? characters.length;
  const last = indexes.findLast(isTextAt) ?? characters.length;
  const found = new Map<string, KeyFault>();
  faults.forEach((code, index) => {
    if (code === undefined) return;
    const where = index < first ? 'start' : index > last ? 'end' : 'inside';
    found.set(`${code} ${where}`, { code, where });
  });
  return [...found.values()];
}

/** The keys of an application, as its configuration names them. */
const KEY_NAMES = ['appid', 'appkey', 'serverKey', 'serverPassword'] as const;
export type KeyName = (typeof KEY_NAMES)[number];

/** A key that looks wrong. */
export interface KeyWarning extends KeyFault {
  /** Which key. */
  setting: KeyName;
  /** In English; in other languages by `code`, `setting` and `where`. Never with the key itself. */
  message: string;
}

const NAMES: Readonly<Record<KeyName, string>> = {
  appid: 'The App ID',
  appkey: 'The app key',
  serverKey: "The server API's key",
  serverPassword: "The server API's password",
};
const THINGS: Readonly<Record<KeyFaultCode, string>> = {
  'line-end': 'a line end',
  'full-width': 'full-width characters',
  blank: 'a blank',
  invisible: 'an invisible character',
};
const PLACES: Readonly<Record<KeyFault['where'], (thing: string) => string>> = {
  start: (thing) => `begins with ${thing}`,
  end: (thing) => `ends with ${thing}`,
  inside: (thing) => `contains ${thing}`,
};

/** What looks wrong about each of these keys. */
export function keyWarnings(keys: Readonly<Partial<Record<KeyName, unknown>>>): KeyWarning[] {
  return KEY_NAMES.flatMap((setting) => {
    const key = keys[setting];
    if (typeof key !== 'string') return [];
    return keyFaults(key).map(({ code, where }) => {
      const message = `${NAMES[setting]} ${PLACES[where](THINGS[code])}.`;
      return { code, where, setting, message };
    });
  });
}
