import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
/** Collects what nothing holds any more. */
export const collect = runInNewContext('gc') as () => void;

/** How many of these objects something still holds, once all that can be is collected. */
export async function held(objects: readonly WeakRef<object>[]): Promise<number> {
  // What a reference was made to or read from is kept until its turn of the event loop ends.
  await turn();
  collect();
  return objects.filter((reference) => reference.deref() !== undefined).length;
}
