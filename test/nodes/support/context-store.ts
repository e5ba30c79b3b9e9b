import type { Node } from 'node-red';

/** What a context store calls. */
export type Callback = (error: Error | null, value?: unknown) => void;

/** A node whose context store does what a test says. */
export const nodeWith = (store: {
  get?: (callback: Callback) => void;
  set?: (value: unknown, callback: Callback) => void;
}): Node => {
  const context = {
    get: (_key: string, callback: Callback) => store.get?.(callback),
    set: (_key: string, value: unknown, callback: Callback) => store.set?.(value, callback),
  };
  return { context: () => context } as unknown as Node;
};
