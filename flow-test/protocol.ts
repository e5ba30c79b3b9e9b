/* What the runner and the Node-RED under test say to each other, as JSON over a channel of its process. */

import type { FlowNode } from './flows';

/** The type of nodes that stand for those that are not allowed: they take messages, and do nothing. */
export const BLIND = 'device-cloud-test-disabled';

/** What a test can see at most: messages, statuses and errors of all nodes together. */
export const MAX_SEEN = 100_000;

/** What the process of Node-RED is started with, as its last argument. */
export interface Start {
  /** The folder of `node-red`. */
  readonly nodeRed: string;
  readonly userDir: string;
  /** Files of core nodes not to load. */
  readonly excluded: readonly string[];
  /** The only port that nodes may connect to, on loopback; 0: there is no limit. */
  readonly port: number;
}

/** What the runner asks for; each is answered once, with its `id`. */
export type Command = { readonly id: number } & (
  | {
      readonly do: 'deploy';
      /** Number of the test, which its reports have. */
      readonly test: number;
      readonly flows: readonly FlowNode[];
      /** Ids of the nodes whose messages are reported. */
      readonly watched: readonly string[];
    }
  /** A message that the node takes, or sends if it takes none or is disabled. Without one its button is pressed. */
  | { readonly do: 'inject'; readonly node: string; readonly msg?: object }
  /** Is answered when everything that was seen before has been reported. */
  | { readonly do: 'flush' }
);

/** How often messages reached a node and left it, by its id. */
export type Traffic = Readonly<Record<string, readonly [received: number, sent: number]>>;

/** Something that happened in Node-RED; `node` is an id as in the flow file, `at` ms since 1970. */
export type Report =
  | { readonly kind: 'message'; readonly at: number; readonly node: string; readonly msg: unknown }
  | {
      readonly kind: 'status';
      readonly at: number;
      readonly node: string;
      readonly status: unknown;
    }
  | {
      readonly kind: 'error';
      readonly at: number;
      readonly node: string;
      readonly code?: string;
      readonly message: string;
    }
  /** More happened than a test can hold. */
  | { readonly kind: 'overflow'; readonly at: number };

/** What Node-RED says. */
export type Answer =
  | { readonly started: true }
  | { readonly id: number; readonly error?: string; readonly traffic?: Traffic }
  | { readonly test: number; readonly report: Report };
