import { createServer } from 'node:http';
import { onLoopback } from '../tooling/servers/loopback';

/** What the world outside would answer, by the path that is asked for. */
export type World = Record<string, object>;

/** A stand-in on loopback for a registry, and for whatever is behind a proxy. */
export interface Stub {
  port: number;
  url: string;
  /** What was asked for that its world does not have. */
  unknown: string[];
  close: () => Promise<void>;
}

export async function startStub(world: World): Promise<Stub> {
  const unknown: string[] = [];
  const server = createServer((request, response) => {
    const { url = '' } = request;
    // As a proxy it is given whole addresses, as a registry only paths.
    const answer = world[new URL(url, 'http://registry').pathname];
    if (!answer) unknown.push(url);
    request.resume();
    response.writeHead(answer ? 200 : 404, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? {}));
  });
  const { port, close } = await onLoopback(server);
  return { port, url: `http://127.0.0.1:${port}/`, unknown, close };
}
