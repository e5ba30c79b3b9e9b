/** An invalid option: its name, and what is wrong with it. */
export class OptionError extends RangeError {
  /** Identifies the class where `instanceof` cannot. */
  override readonly name = 'OptionError';
  constructor(
    /** The option's name. */
    readonly option: string,
    /** What is wrong, to be read after the name. */
    readonly problem: string,
  ) {
    super(`${option} ${problem}.`);
  }
}

/** A number between two limits, both included. */
export function numberIn(
  option: string,
  value: number,
  min: number,
  max: number,
  kind: 'any' | 'whole' = 'any',
): number {
  const fits = value >= min && value <= max && (kind === 'any' || Number.isInteger(value));
  if (fits) return value;
  const noun = kind === 'whole' ? 'a whole number' : 'a number';
  const bounds = max === Infinity ? `of ${min} or more` : `from ${min} to ${max}`;
  throw new OptionError(option, `must be ${noun} ${bounds}, but is ${String(value)}`);
}

export function textOf(option: string, value: string): string {
  if (typeof value === 'string' && value !== '') return value;
  throw new OptionError(option, 'must be text that is not empty');
}

/** An integer of at most 20 digits, kept as text, so that no digit is lost. */
export function integerText(option: string, value: string | number): string {
  const text = typeof value === 'number' && !Number.isSafeInteger(value) ? '' : String(value);
  if (/^(?:0|[1-9][0-9]{0,19})$/.test(text)) return text;
  throw new OptionError(
    option,
    `must be an integer of 1 to 20 digits (beyond the safe integers as a string), but is ${String(value)}`,
  );
}

export function oneOf<T extends string>(option: string, value: T, values: readonly T[]): T {
  if (values.includes(value)) return value;
  throw new OptionError(option, `must be one of ${values.join(', ')}, but is ${value}`);
}
