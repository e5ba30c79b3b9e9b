import { mock } from 'node:test';
import { Script, type Context, type RunningScriptOptions } from 'node:vm';

/**
 * The time limits of all runs of patterns from now on, in ms: what they may take together. Ends with `restore`.
 * @param isLimited false if no limit may end a run, since a busy machine takes longer over the shortest
 */
export function watchRuns(isLimited = true): {
  limits: number[];
  total: () => number;
  restore: () => void;
} {
  const limits: number[] = [];
  // eslint-disable-next-line @typescript-eslint/unbound-method
  const run = Script.prototype.runInContext;
  const method = mock.method(
    Script.prototype,
    'runInContext',
    function (this: Script, context: Context, options?: RunningScriptOptions): unknown {
      limits.push(options?.timeout ?? Infinity);
      return run.call(this, context, isLimited ? options : { ...options, timeout: undefined });
    },
  );
  return {
    limits,
    total: () => limits.reduce((sum, limit) => sum + limit, 0),
    restore: () => method.mock.restore(),
  };
}
