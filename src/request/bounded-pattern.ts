import { createContext, Script } from 'node:vm';

/**
 * Milliseconds that one run of a pattern may take. A pattern that backtracks needs far longer, any other
 * far less, and the process does nothing else meanwhile.
 */
const LIMIT = 200;

/** The longest pattern, in characters: to compile one cannot be interrupted. */
export const MAX_PATTERN = 1000;

const RUN = new Script('pattern.test(text)');

/** Why a pattern cannot be run on an upload, to end the sentence "the pattern …". */
export class PatternFailed extends Error {}

function hasCode(thrown: unknown, code: string): boolean {
  return (
    typeof thrown === 'object' && thrown !== null && (thrown as { code?: unknown }).code === code
  );
}

/**
 * Runs regular expressions with a time limit. One such as `^(a+)+$` would run for years on
 * a text of 40 letters; V8 interrupts it where a script runs with a time-out. The alternatives are a
 * package of its own (RE2, native or 300 KB of WebAssembly, without look-around), a worker for each
 * run, or an experimental flag of V8 for the whole process.
 */
export class BoundedPatterns {
  /** Made when it is first needed: it takes a millisecond. */
  #context: { pattern?: RegExp; text?: string } | undefined;

  /**
   * Whether a text matches.
   * @throws PatternFailed if it takes too long or V8 refuses it
   */
  test(pattern: RegExp, text: string): boolean {
    const context = (this.#context ??= createContext({}) as { pattern?: RegExp; text?: string });
    context.pattern = pattern;
    context.text = text;
    try {
      return RUN.runInContext(context, { timeout: LIMIT }) === true;
    } catch (thrown) {
      if (hasCode(thrown, 'ERR_SCRIPT_EXECUTION_TIMEOUT')) {
        throw new PatternFailed(
          `took more than ${LIMIT} ms on one upload and was stopped: it backtracks too much. ` +
            'Make it more exact, without a repetition inside a repetition',
        );
      }
      throw new PatternFailed('cannot be run on an upload: it is too large. Make it shorter');
    } finally {
      delete context.pattern;
      delete context.text;
    }
  }
}
