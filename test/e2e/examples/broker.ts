import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import type { PublishPacket } from 'aedes' with { 'resolution-mode': 'import' };
import type { FlowNode } from '../../../tooling/node-red/nodes';

/** An MQTT broker on loopback, and what was published at it. */
export interface Broker {
  port: number;
  /** What clients have published so far. */
  published: { topic: string; text: string }[];
  publish(topic: string, text: string, options?: Partial<PublishPacket>): Promise<void>;
  close(): Promise<void>;
}

export async function startBroker(): Promise<Broker> {
  const { Aedes } = await import('aedes');
  const aedes = await Aedes.createBroker();
  const published: Broker['published'] = [];
  aedes.on('publish', ({ topic, payload }, client) => {
    if (client) published.push({ topic, text: payload.toString() });
  });
  const server = createServer(aedes.handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    published,
    publish: (topic, text, options = {}) =>
      new Promise((resolve, reject) => {
        const packet = { cmd: 'publish', qos: 2, dup: false, retain: false, ...options } as const;
        aedes.publish({ ...packet, topic, payload: Buffer.from(text) }, (error) =>
          error ? reject(error) : resolve(),
        );
      }),
    close: () => new Promise((resolve) => aedes.close(() => void server.close(() => resolve()))),
  };
}

/** The example with its broker at another port, since 1883 may be anybody's. */
export const atPort = (nodes: FlowNode[], port: number): FlowNode[] =>
  nodes.map((node) =>
    node.type === 'mqtt-broker' ? { ...node, broker: '127.0.0.1', port: String(port) } : node,
  );
