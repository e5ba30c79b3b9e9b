import type { Node } from 'node-red';
import { Kept } from '../../../nodes/common/kept';
import type { KeptValue } from '../../../src/for-nodes';

/** A kept value that does what a test says. */
export const keptWith = (store: Partial<KeptValue>): Kept =>
  new Kept(
    { on: () => undefined, warn: () => undefined } as unknown as Node,
    {
      read: () => Promise.resolve(undefined),
      write: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      ...store,
    },
    () => undefined,
  );
