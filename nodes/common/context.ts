import type { Node } from 'node-red';

// The callback forms, which work with every context store, a remote one too.

/** Reads a value of a node's own context, from the default store. */
export function contextGet(node: Node, key: string): Promise<unknown> {
  return new Promise((resolve, reject) => {
    node.context().get(key, (error: Error | null, value: unknown) => {
      if (error) reject(error);
      else resolve(value);
    });
  });
}

/** Writes a value to a node's own context, in the default store. */
export function contextSet(node: Node, key: string, value: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    node.context().set(key, value, (error?: Error | null) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
