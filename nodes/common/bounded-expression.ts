import type { Node, NodeAPI, NodeMessage } from 'node-red';
import type { UploadPatterns } from '../../src/for-nodes';
import { PatternBudget, TurnLimit } from '../../src/input';

type Expression = ReturnType<NodeAPI['util']['prepareJSONataExpression']>;

/**
 * Bytes of an upload that an expression may read. JSONata's own functions, such as `$sort`, cannot be stopped. Time and memory
 * of `$sort` grow with the square: 4,096 values take 0.1 s and 70 MB, 50,000 take all memory.
 */
export const MAX_READ = 4096;

/** Milliseconds for which an evaluation runs without letting anything else run. */
const SLICE = 50;

/** The most evaluations inside each other: a function that always calls itself needs all memory otherwise. */
const MAX_DEPTH = 10_000;

/** Matches of a pattern that are looked for at once: each search with a time limit costs as much as a hundred of them. */
const MATCHES = 500;

/** What JSONata calls at the begin and the end of each step, up to version 2.0 and from 2.1. */
const HOOKS = [
  ['__evaluate_entry', '__evaluate_exit'],
  [Symbol.for('jsonata.__evaluate_entry'), Symbol.for('jsonata.__evaluate_exit')],
] as const;

interface Part {
  type: string;
  value: unknown;
  /** The regular expression that it was. */
  pattern?: RegExp;
}

interface Scope {
  bind(name: string, value: unknown): void;
}

/** What a regular expression is for JSONata: a function that gives a match, which gives the next one. */
interface Match {
  match: string;
  start: number;
  end: number;
  groups: (string | undefined)[];
  next: () => Match | undefined;
}

/** JSONata's error for a pattern that matches an empty text, and so would match without end. */
const emptyMatch = ({ source }: RegExp): Error =>
  Object.assign(new Error(`The pattern /${source}/ matches an empty text.`), {
    ...{ code: 'D1004', value: source },
  });

/** @param pattern global, as JSONata makes all of them */
const matcherOf =
  (pattern: RegExp, patterns: () => UploadPatterns) =>
  (value: unknown): Match | undefined => {
    const text = String(value);
    const search = new RegExp(pattern);
    let found = patterns().find(search, text);
    const matchAt = (index: number): Match | undefined => {
      const match = found[index];
      if (!match) return undefined;
      const end = match.index + match[0].length;
      const next = (): Match | undefined => {
        if (end >= text.length) return undefined;
        if (index + 1 < found.length) return nonEmpty(matchAt(index + 1));
        search.lastIndex = end;
        found = patterns().find(search, text, MATCHES);
        return nonEmpty(matchAt(0));
      };
      return { match: match[0], start: match.index, end, groups: match.slice(1), next };
    };
    const nonEmpty = (match: Match | undefined): Match | undefined => {
      if (match?.match === '') throw emptyMatch(pattern);
      return match;
    };
    return matchAt(0);
  };

/**
 * An expression of JSONata whose evaluations end. One such as `($f := function() { $f() }; $f())` never would, and
 * JSONata, although it is asynchronous, lets nothing else of the process run meanwhile. Its regular expressions run with
 * a time limit, too: JSONata takes an engine for them only when it parses, which Node-RED does, and then for the whole
 * process, so each is replaced by a function when it is first evaluated, in `$eval` as well.
 */
export class BoundedExpression {
  /** Of the process: it has one event loop. */
  static readonly #turns = new TurnLimit();
  readonly #RED: NodeAPI;
  readonly #expression: Expression;
  readonly #maxSlices: number;
  /** Evaluations share what follows, so they follow one another. */
  #last: Promise<unknown> = Promise.resolve();
  #patterns: UploadPatterns = new PatternBudget();
  #began = 0;
  #slices = 0;
  #depth = 0;

  /**
   * @param seconds that an evaluation may take, without what it waits for
   * @throws an error of the JSONata parser, which may be an object with a message
   */
  constructor(RED: NodeAPI, node: Node, source: string, seconds: number) {
    this.#RED = RED;
    this.#expression = RED.util.prepareJSONataExpression(source, node);
    this.#maxSlices = (seconds * 1000) / SLICE;
    const enter = (part: Part, _input: unknown, scope: Scope): Promise<void> | undefined =>
      this.#enter(part, scope);
    const leave = (): void => void this.#depth--;
    for (const [entry, exit] of HOOKS) {
      // Its types know no names but strings.
      this.#expression.assign(entry as string, enter);
      this.#expression.assign(exit as string, leave);
    }
  }

  /**
   * Evaluates it for a message, after the evaluations that were asked for before.
   * @param patterns runs its regular expressions; default: with a time limit for this evaluation alone
   */
  evaluate(data: object, patterns?: UploadPatterns): Promise<unknown> {
    const result = this.#last.then(() => this.#run(data, patterns ?? new PatternBudget()));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #run(data: object, patterns: UploadPatterns): Promise<unknown> {
    const turns = BoundedExpression.#turns;
    while (!turns.isFree) await turns.next();
    this.#begin();
    this.#slices = this.#depth = 0;
    this.#patterns = patterns;
    try {
      return await this.#evaluate(data);
    } finally {
      turns.spend(performance.now() - this.#began - SLICE);
    }
  }

  /** Begins a slice. Its time counts at once, since others may begin before it ends. */
  #begin(): void {
    BoundedExpression.#turns.spend(SLICE);
    this.#began = performance.now();
  }

  #evaluate(data: object): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const { util } = this.#RED;
      util.evaluateJSONataExpression(
        this.#expression,
        data as NodeMessage,
        (error, result: unknown) => {
          // What JSONata throws is an object that is no error.
          if (error) reject(error);
          else resolve(result);
        },
      );
    });
  }

  async #continue(): Promise<void> {
    const turns = BoundedExpression.#turns;
    do await turns.next();
    while (!turns.isFree);
    this.#begin();
  }

  #enter(part: Part, scope: Scope): Promise<void> | undefined {
    if (++this.#depth > MAX_DEPTH) throw new Error('the expression is nested too deeply');
    if (part.type === 'regex') {
      part.pattern = part.value as RegExp;
      part.type = 'variable';
      // No variable of the user's has such a name.
      part.value = `the pattern ${String(part.pattern)}`;
    }
    if (part.pattern) {
      scope.bind(
        part.value as string,
        matcherOf(part.pattern, () => this.#patterns),
      );
    }
    if (performance.now() - this.#began < SLICE) return undefined;
    if (++this.#slices > this.#maxSlices) throw new Error('the expression took too long');
    return this.#continue();
  }
}
