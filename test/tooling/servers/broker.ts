import { createServer } from 'node:net';
import type { PublishPacket } from 'aedes' with { 'resolution-mode': 'import' };
import type { FlowNode } from '../node-red/nodes';
import { onLoopback } from './loopback';

/** An MQTT broker on loopback, and what was published at it. */
export interface Broker {
  port: number;
  /** What clients have published so far. */
  published: { topic: string; text: string }[];
  /** What it keeps for those who subscribe later, by topic. */
  retained: Map<string, string>;
  publish(topic: string, text: string, options?: Partial<PublishPacket>): Promise<void>;
  close(): Promise<void>;
}

export async function startBroker(): Promise<Broker> {
  const { Aedes } = await import('aedes');
  const aedes = await Aedes.createBroker();
  const published: Broker['published'] = [];
  const retained: Broker['retained'] = new Map();
  aedes.on('publish', ({ topic, payload, retain }, client) => {
    const text = payload.toString();
    if (client) published.push({ topic, text });
    if (!retain) return;
    if (text === '') retained.delete(topic);
    else retained.set(topic, text);
  });
  const { port, close } = await onLoopback(createServer(aedes.handle));
  return {
    port,
    published,
    retained,
    publish: (topic, text, options = {}) =>
      new Promise((resolve, reject) => {
        const packet = { cmd: 'publish', qos: 2, dup: false, retain: false, ...options } as const;
        aedes.publish({ ...packet, topic, payload: Buffer.from(text) }, (error) =>
          error ? reject(error) : resolve(),
        );
      }),
    close: () => new Promise((resolve) => aedes.close(() => void close().then(resolve))),
  };
}

/** The nodes of an example with its broker at another port, since 1883 may be anybody's. */
export const atPort = <T extends FlowNode>(nodes: readonly T[], port: number): T[] =>
  nodes.map((node) =>
    node.type === 'mqtt-broker' ? { ...node, broker: '127.0.0.1', port: String(port) } : node,
  );
