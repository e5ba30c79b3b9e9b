import { oneLine, show } from './show';

/** The longest pattern, in characters. */
const MAX_PATTERN = 1000;
/** Instructions of a compiled pattern: repetitions inside repetitions multiply. */
const MAX_PROGRAM = 5000;
/** The longest text that is looked at, in characters: with the longest pattern, that takes a second. */
const MAX_TEXT = 65_536;

const LONGEST_REASON = 100;

/** Loaded with the first pattern, since that takes a while. */
const engine = (): typeof import('re2js') => require('re2js') as typeof import('re2js');

/** The flags of a regular expression that change what it matches; the others are left out. */
const FLAGS = { i: 'CASE_INSENSITIVE', m: 'MULTILINE', s: 'DOTALL' } as const;

/**
 * A regular expression that reads each character of a text once: one such as `^(a+)+$`, run by the engine of JavaScript on a
 * text of 40 letters, would keep the process busy for years.
 */
export class Pattern {
  /** Equal patterns have equal keys. */
  readonly key: string;
  readonly #program: import('re2js').RE2JS;

  /** @throws Error with a sentence that says why it cannot be used */
  constructor(pattern: string | RegExp) {
    const { source, flags } =
      typeof pattern === 'string' ? { source: pattern, flags: '' } : pattern;
    if (source === '' || source.length > MAX_PATTERN)
      throw new Error(`The pattern must have 1 to ${MAX_PATTERN} characters.`);
    this.key = `/${source}/${flags}`;
    const { RE2JS } = engine();
    try {
      const set = Object.entries(FLAGS).filter(([flag]) => flags.includes(flag));
      const bits = set.reduce((sum, [, name]) => sum | RE2JS[name], 0);
      this.#program = RE2JS.compile(RE2JS.translateRegExp(source), bits);
    } catch (error) {
      const reason = oneLine((error as Error).message, LONGEST_REASON);
      throw new Error(
        `The pattern ${show(source)} cannot be used: ${reason}. Look-around, such as (?=…), and back-references, such as ` +
          '\\1, are not supported, since no engine matches them in linear time.',
        { cause: error },
      );
    }
    if (this.#program.programSize() > MAX_PROGRAM)
      throw new Error(`The pattern ${show(source)} repeats too much: repeat less.`);
  }

  /** Whether a text has a part that matches. A text of more than 65,536 characters has none. */
  test(text: string): boolean {
    return text.length <= MAX_TEXT && this.#program.test(text);
  }
}
