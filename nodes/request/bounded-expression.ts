import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeAPI } from 'node-red';

type Expression = ReturnType<NodeAPI['util']['prepareJSONataExpression']>;

/** Milliseconds for which an evaluation runs without letting anything else run, and how often it may. */
const SLICE = 50;
const MAX_SLICES = 20;

/** The most evaluations inside each other: a function that always calls itself needs all memory otherwise. */
const MAX_DEPTH = 10_000;

/** What JSONata calls at the begin and the end of each step, up to version 2.0 and from 2.1. */
const HOOKS = [
  ['__evaluate_entry', '__evaluate_exit'],
  [Symbol.for('jsonata.__evaluate_entry'), Symbol.for('jsonata.__evaluate_exit')],
] as const;

/**
 * Bounds the evaluations of an expression, which must follow one another. One such as
 * `($f := function() { $f() }; $f())` never ends, and JSONata, although it is asynchronous, lets nothing
 * else of the process run meanwhile. An upload may lead to it, if the expression recurses over it.
 * @returns call it before each evaluation
 */
export function boundExpression(expression: Expression): () => void {
  let began = 0;
  let slices = 0;
  let depth = 0;
  const enter = (): Promise<void> | undefined => {
    if (++depth > MAX_DEPTH) throw new Error('the expression is nested too deeply');
    if (performance.now() - began < SLICE) return undefined;
    if (++slices > MAX_SLICES) throw new Error('the expression took too long');
    return nextTurn().then(() => {
      began = performance.now();
    });
  };
  const leave = (): void => {
    depth--;
  };
  for (const [entry, exit] of HOOKS) {
    // Its types know no names but strings.
    expression.assign(entry as string, enter);
    expression.assign(exit as string, leave);
  }
  return () => {
    began = performance.now();
    slices = depth = 0;
  };
}
