import type { Node, NodeAPI, NodeDef, NodeMessage, NodeRedApp } from 'node-red';
import type { FlowNode } from '../../test/tooling/node-red/nodes';
import { fail } from './node-red';

/*
 * The nodes around what is measured, the same in every flow: a source that sends, a sink that
 * counts, and a bare node, which is the floor.
 */

/** What the nodes of the benchmark do. Set it before the first deploy. */
export interface Ends {
  /** Sends a message into the flow. */
  send: (msg: NodeMessage) => void;
  /** Is called with each message that comes out of the flow. */
  onMessage: (msg: NodeMessage) => void;
  /** What the bare node does with a message before it sends it on. */
  work: (msg: NodeMessage) => Promise<void>;
}

type Input = (msg: NodeMessage, send: (msg: NodeMessage) => void, done: () => void) => void;

export const createEnds = (): Ends => ({
  send: () => undefined,
  onMessage: () => undefined,
  work: () => Promise.resolve(),
});

/** Registers the node types with an embedded Node-RED. */
export const registerEnds =
  (ends: Ends) =>
  (app: NodeRedApp): void => {
    // The types of an embedded Node-RED leave this part out.
    const nodes = app.nodes as unknown as NodeAPI['nodes'] & {
      registerType(set: string, type: string, start: (this: Node, def: NodeDef) => void): void;
    };
    const register = (type: string, onInput: Input): void =>
      nodes.registerType('bench', type, function (this: Node, def: NodeDef) {
        nodes.createNode(this, def);
        if (type === 'bench-source') ends.send = (msg) => this.send(msg);
        this.on('input', onInput);
      });
    register('bench-source', () => undefined);
    register('bench-sink', (msg, _send, done) => {
      ends.onMessage(msg);
      done();
    });
    register('bench-floor', (msg, send, done) => {
      ends.work(msg).then(
        () => {
          send(msg);
          done();
        },
        (error: unknown) => fail(String(error)),
      );
    });
  };

/** A node on the tab. */
export const placed = (id: string, type: string, properties: object, next?: string): FlowNode => ({
  ...{ id, type, z: 'tab', x: 100, y: 100, name: '' },
  ...properties,
  wires: next === undefined ? [] : [[next]],
});

/** The tab and both ends. @param first the node after the source, if it sends */
export const endNodes = (first?: string): FlowNode[] => [
  { id: 'tab', type: 'tab', label: 'bench', disabled: false },
  placed('source', 'bench-source', {}, first),
  placed('sink', 'bench-sink', {}),
];
