/*
 * What the runner and the Node-RED under test say to each other, a line of JSON each: commands over the standard input of
 * its process, answers over a pipe of their own.
 */

/** An error whose message is all that a person needs. */
export class Problem extends Error {}

/** A node as a flow file has it. */
export interface FlowNode {
  readonly id: string;
  readonly type: string;
  readonly name?: string;
  readonly [property: string]: unknown;
}

/** The type of nodes that stand for those that are disabled: they take messages, and do nothing. */
export const DISABLED = 'device-cloud-test-disabled';

/** What a test can see at most: messages, statuses and errors of all nodes together. */
export const MAX_SEEN = 100_000;

/** The file descriptor of the pipe. */
export const PIPE = 3;

/** What the runner asks for; each is answered once, with its `id`. */
export type Command = { readonly id: number } & Asked;
export type Asked =
  /** The first one is 0, which nobody sends: it is answered when Node-RED has started. */
  | {
      readonly do: 'deploy';
      readonly flows: readonly FlowNode[];
      /** Ids of the nodes whose messages are reported. */
      readonly watched: readonly string[];
    }
  /** A message that the node takes, or sends if it takes none or is disabled. Without one its button is pressed. */
  | { readonly do: 'inject'; readonly node: string; readonly msg?: object }
  /** Is answered when everything that was seen before has been reported. */
  | { readonly do: 'flush' };

interface Happened {
  /** Milliseconds since 1970. */
  readonly at: number;
  /** An id as in the flow file. */
  readonly node: string;
}

/** Something that happened in Node-RED. */
export type Report =
  | (Happened & { readonly kind: 'message'; readonly msg: unknown })
  | (Happened & { readonly kind: 'status'; readonly status: unknown })
  | (Happened & { readonly kind: 'error'; readonly code?: string; readonly message: string })
  /** More happened than a test can hold. */
  | { readonly kind: 'overflow'; readonly at: number };

/** What Node-RED says. */
export type Answer = { readonly id: number; readonly error?: string } | { readonly report: Report };
