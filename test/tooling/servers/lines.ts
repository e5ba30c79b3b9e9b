import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FlowNode } from '../node-red/nodes';
import { onLoopback } from './loopback';

/** A server that takes what is posted to it with 204, as a database takes lines. */
export interface LineServer {
  url: string;
  /** What was posted, with the header by which the writer proves who it is. */
  posted: { body: string; authorization: string | undefined }[];
  close(): Promise<void>;
}

export async function startLineServer(): Promise<LineServer> {
  const posted: LineServer['posted'] = [];
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      posted.push({ body, authorization: request.headers.authorization });
      response.writeHead(204).end();
    });
  });
  const { port, close } = await onLoopback(server);
  return { url: `http://127.0.0.1:${port}/`, posted, close };
}

/** The nodes of an example whose lines go to this server, by the variable of its tab. */
export const linesTo = <T extends FlowNode>(nodes: readonly T[], url: string): T[] =>
  nodes.map((node) => {
    const env = node['env'] as { name: string; value: string }[] | undefined;
    if (!env?.some(({ name }) => name === 'INFLUX_URL')) return node;
    const values = env.map((each) => (each.name === 'INFLUX_URL' ? { ...each, value: url } : each));
    return { ...node, env: values };
  });
