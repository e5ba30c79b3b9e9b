import type { Edge } from './edge';
import type { Encoding } from './facts';

/** How far the uploads of a device have been emitted; small enough to be saved with each one. */
export interface Position {
  /** Newest history id known to be emitted. */
  id: string;
  /** How many were emitted live after it, whose ids are not known. */
  live: number;
  /** Key of the last one of those. */
  last?: string;
  /** The keys of those that followed, while it is not sure that nothing was missed before them. */
  keys?: string[];
  /** Some records of the history, by which it is recognised if its ids begin anew. */
  edge?: Edge;
  /** How the history writes bodies, if that has been learned. */
  encoding?: Encoding;
}
