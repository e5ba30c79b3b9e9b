import type { Node, NodeAPI, NodeDef, NodeMessage, NodeRedApp } from 'node-red';
import type { FlowNode } from '../../test/e2e/harness/flows';

/*
 * The node types at both ends of every flow that is measured, the same for all: a source that sends,
 * a sink that counts.
 */

const SOURCE = 'bench-source';
const SINK = 'bench-sink';
const FAILURE = 'bench-failure';

/** Both ends of the flow that is deployed. */
export interface Ends {
  /** Sends a message into the flow. */
  send(msg: NodeMessage): void;
  /** Is told of each message that comes out of it. */
  onMessage: (msg: NodeMessage) => void;
  /** Is told of each error of a node in the flow. */
  onFailure: (error: Error) => void;
}

type Constructor = (this: Node, def: NodeDef) => void;

/** Registers the types with an embedded Node-RED. @param source what else the source does at its start */
export function ownNodes(ends: Ends, source?: (node: Node, def: FlowNode) => void) {
  return (app: NodeRedApp): void => {
    // The types of an embedded Node-RED leave this part out.
    const nodes = app.nodes as unknown as NodeAPI['nodes'] & {
      registerType(set: string, type: string, constructor: Constructor): void;
    };
    const register = (type: string, start: (node: Node, def: FlowNode) => void): void => {
      nodes.registerType('bench', type, function (this: Node, def: NodeDef) {
        nodes.createNode(this, def);
        start(this, def as unknown as FlowNode);
      });
    };
    register(SOURCE, (node, def) => {
      ends.send = (msg) => node.send(msg);
      source?.(node, def);
    });
    register(SINK, (node) => {
      node.on('input', (msg, _send, done) => {
        ends.onMessage(msg);
        done();
      });
    });
    register(FAILURE, (node) => {
      node.on('input', (msg, _send, done) => {
        const { message } = (msg as { error?: { message?: string } }).error ?? {};
        ends.onFailure(new Error(`A node of the flow failed: ${message ?? 'no message'}`));
        done();
      });
    });
  };
}

export const newEnds = (): Ends => ({
  send: () => undefined,
  onMessage: () => undefined,
  onFailure: (error) => {
    throw error;
  },
});

const PLACE = { z: 'tab', x: 100, y: 100, name: '' };

/** A node on the tab. */
export const placed = (
  id: string,
  type: string,
  properties: object,
  next: string | undefined,
): FlowNode => ({ ...properties, id, type, ...PLACE, wires: next === undefined ? [] : [[next]] });

/** The tab, the source, the sink, and whoever hears of errors. @param first the node after the source */
export const ends = (first: string | undefined, source: object = {}): FlowNode[] => [
  { id: 'tab', type: 'tab', label: 'bench', disabled: false },
  placed('source', SOURCE, source, first),
  placed('sink', SINK, {}, undefined),
  placed('catch', 'catch', { scope: null, uncaught: false }, 'failure'),
  placed('failure', FAILURE, {}, undefined),
];
