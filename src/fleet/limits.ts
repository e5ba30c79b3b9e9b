/*
 * Limits of the fields of decoded uploads, as a type of devices has them. It imports nothing, since the editor reads the lines
 * with the same code while one types.
 */

type Operator = '>' | '<' | '>=' | '<=';

/** A line such as `temperature > 30 for 60 clear < 28`. */
export interface Limit {
  readonly line: string;
  readonly field: string;
  /** Whether a value is beyond the limit, and whether one ends the alarm. */
  readonly isCrossed: (value: number) => boolean;
  readonly isCleared: (value: number) => boolean;
  /** For how long it must be crossed, in ms by the times of the uploads. */
  readonly duration: number;
}

/** An alarm that is on. */
export interface Alarm {
  /** Of the decoded upload. */
  readonly field: string;
  /** With which it was raised. */
  readonly value: number;
  /** The line of the type. */
  readonly limit: string;
}

/** An alarm was raised, or is over. */
export type AlarmEvent = 'alarm' | 'cleared';

const COMPARE: Readonly<Record<Operator, (value: number, limit: number) => boolean>> = {
  '>': (value, limit) => value > limit,
  '<': (value, limit) => value < limit,
  '>=': (value, limit) => value >= limit,
  '<=': (value, limit) => value <= limit,
};

const LINE = new RegExp(
  String.raw`^([^<>=]*[^<>=\s])\s*([<>]=?)\s*(-?\d+(?:\.\d+)?)(?:\s+for\s*(\d+(?:\.\d+)?))?(?:\s+clear\s*([<>]=?)\s*(-?\d+(?:\.\d+)?))?$`,
);

/** Reads a line. @returns undefined if it is no limit, or if it would be cleared where it is crossed */
function readLimit(line: string): Limit | undefined {
  const [, field = '', operator, value, duration = '0', clear, clearValue] = LINE.exec(line) ?? [];
  if (operator === undefined) return undefined;
  const crossed = COMPARE[operator as Operator];
  const limit = Number(value);
  const isCrossed = (given: number): boolean => crossed(given, limit);
  const common = { line, field, isCrossed, duration: 1000 * Number(duration) };
  if (clear === undefined) return { ...common, isCleared: (given) => !isCrossed(given) };
  const cleared = COMPARE[clear as Operator];
  const end = Number(clearValue);
  const isApart = operator.startsWith('>') ? end <= limit : end >= limit;
  const isBoth = isCrossed(end) && cleared(end, end);
  if (clear[0] === operator[0] || !isApart || isBoth) return undefined;
  return { ...common, isCleared: (given) => cleared(given, end) };
}

/** Reads the limits of a type, a line each. @returns the limits, and the lines that are malformed or repeated */
export function readLimits(text: string): { limits: Limit[]; wrong: string[] } {
  const limits = new Map<string, Limit>();
  const wrong: string[] = [];
  for (const each of text.split(/\r?\n/)) {
    const line = each.trim().replace(/\s+/g, ' ');
    if (line === '') continue;
    const limit = limits.has(line) ? undefined : readLimit(line);
    if (limit) limits.set(line, limit);
    else wrong.push(line);
  }
  return { limits: [...limits.values()], wrong };
}
