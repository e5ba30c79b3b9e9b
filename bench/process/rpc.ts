import { createProfiler } from './profiler';

/** What a process of the benchmark can be asked: functions of at most one argument, by name. */
export type Methods<M> = { [K in keyof M]: (...argument: never[]) => unknown };

export type Argument<M extends Methods<M>, K extends keyof M> = Parameters<M[K]>;
export type Result<M extends Methods<M>, K extends keyof M> = Awaited<ReturnType<M[K]>>;

/** A question to a process, and what it says. */
export interface Question {
  id: number;
  name: string;
  argument: unknown;
}
export type Answer = { id: number; result: unknown } | { id: number; error: string };

const textOf = (error: unknown): string =>
  error instanceof Error ? (error.stack ?? error.message) : String(error);

/** Answers the questions of the process that has started this one, until that one ends. */
export function serve<M extends Methods<M>>(methods: M): void {
  const table = new Map<string, unknown>(Object.entries({ ...createProfiler(), ...methods }));

  const answer = async ({ id, name, argument }: Question): Promise<Answer> => {
    try {
      const method = table.get(name) as ((argument: unknown) => unknown) | undefined;
      if (!method) throw new Error(`There is no method ${name}.`);
      return { id, result: await method(argument) };
    } catch (error) {
      return { id, error: textOf(error) };
    }
  };
  process.on('message', (question: Question) => {
    void answer(question).then((said) => process.send?.(said));
  });
  process.once('disconnect', () => process.exit());
}

/** The settings that this process was started with. */
export const settings = (): unknown => JSON.parse(process.argv[2] ?? '{}');
