import type { Node, NodeAPI } from 'node-red';
import { Kept } from '../../../nodes/common/kept';
import type { KeptValue } from '../../../src/for-nodes';

/** A kept value that does what a test says. */
export const keptWith = (store: Partial<KeptValue>): Kept =>
  new Kept(
    {} as NodeAPI,
    { on: () => undefined, warn: () => undefined } as unknown as Node,
    {
      read: () => Promise.resolve(undefined),
      write: () => Promise.resolve(),
      remove: () => Promise.resolve(),
      ...store,
    },
    () => undefined,
  );
