import { firstOf, isObject, parseJsonObject } from '../common/shared.config';

export const CHOICES = { decode: ['none', 'pairs', 'bytes'] } as const;

/** Properties of the config node `device-cloud-type`: what the devices of one type send and have. Its `name` is what the book names. */
export const DEFAULTS = {
  /** `none`: uploads are decoded as each node says. */
  decode: firstOf(CHOICES.decode),
  /** The text between two pairs. */
  pairs: ';',
  /** The text between name and value. */
  equals: '=',
  /** Fields in order, such as `i16be temperature / 100, u8 battery`. */
  bytes: '',
  /** Units of fields, such as `temperature: °C, battery: %`, or JSON from field to unit. */
  units: '',
  /** Limits of fields, a line each, such as `temperature > 30 for 60 clear < 28`. */
  limits: '',
  /** Names of pins, such as `valve: 5, lamp: 12 low`. */
  pins: '',
  /** Keys of rt-status, separated by commas. */
  callbacks: '',
  /** Whether messages have `msg.raw`, the bytes: charts and stores of JSON cannot keep a Buffer. */
  withRaw: false,
};
export type TypeConfig = typeof DEFAULTS;

/** A pin by its name. */
export interface NamedPin {
  readonly pin: number;
  /** Active low: on is level 0. */
  readonly isLow: boolean;
}

/** A name has a letter: a number alone is a pin itself. */
const PIN = /^([^:,]*\p{L}[^:,]*):\s*(\d{1,9})(?:\s+(low))?$/u;

/** Reads the names of pins. @returns the part that is wrong, if one is */
export function readPins(text: string): { pins: Map<string, NamedPin> } | { wrong: string } {
  const pins = new Map<string, NamedPin>();
  if (text.trim() === '') return { pins };
  for (const part of text.split(',')) {
    const [, label = '', pin, low] = PIN.exec(part.trim()) ?? [];
    const name = label.trim();
    if (pin === undefined || pins.has(name)) return { wrong: part.trim() };
    pins.set(name, { pin: Number(pin), isLow: low !== undefined });
  }
  return { pins };
}

/** The part behind the first colon is the unit. */
const UNIT = /^([^:]*[^:\s])\s*:\s*(\S.*)$/;

/** Reads the units of fields. @returns the part that is wrong, if one is */
export function readUnits(text: string): { units: Record<string, string> } | { wrong: string } {
  if (text.trim() === '') return { units: {} };
  const units = parseJsonObject(text);
  if (units) {
    const wrong = Object.entries(units).find(([, unit]) => typeof unit !== 'string');
    return wrong ? { wrong: wrong[0] } : { units: units as Record<string, string> };
  }
  const read = new Map<string, string>();
  for (const part of text.split(',')) {
    const [, field = '', unit] = UNIT.exec(part.trim()) ?? [];
    if (unit === undefined || read.has(field)) return { wrong: part.trim() };
    read.set(field, unit);
  }
  return { units: Object.fromEntries(read) };
}

/** The keys of callbacks. */
export const readCallbacks = (text: string): string[] => {
  const keys = text.split(',').map((key) => key.trim());
  return [...new Set(keys.filter((key) => key !== ''))];
};

const valueText = (value: unknown): string => {
  // Of a float of 32 bits, more digits are noise.
  if (typeof value === 'number') return String(Number(value.toPrecision(7)));
  return typeof value === 'string' ? value : JSON.stringify(value);
};

/** Fields that are looked at for a text. */
const MOST_FIELDS = 50;

/** A decoded upload, field by field with its units: `temperature: 21.5 °C`. */
export function fieldTexts(value: unknown, units: Readonly<Record<string, string>>): string[] {
  if (!isObject(value)) return [valueText(value)];
  return Object.entries(value)
    .slice(0, MOST_FIELDS)
    .map(([name, field]) => {
      const unit = Object.hasOwn(units, name) ? ` ${units[name]}` : '';
      return `${name}: ${valueText(field)}${unit}`;
    });
}

/** What becomes of an upload that is tried. */
export type TryResult = { value: unknown } | { problem: string };

/** The latest upload of a device, to try a type. */
export interface TriedUpload {
  /** At most its first 4,096 bytes. */
  hex: string;
  size: number;
}
