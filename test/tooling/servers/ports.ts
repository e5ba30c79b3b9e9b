import { createServer } from 'node:net';

/** A port of loopback that is held. */
export interface HeldPort {
  port: number;
  release: () => Promise<void>;
}

/** Below those that any system hands out by itself, so that no other process gets one by chance. */
const LOWEST = 20_000;
const HIGHEST = 32_000;

function hold(port: number): Promise<HeldPort | undefined> {
  const server = createServer();
  const release = (): Promise<void> => new Promise((resolve) => void server.close(() => resolve()));
  return new Promise((resolve) => {
    server.once('error', () => resolve(undefined));
    server.listen(port, '127.0.0.1', () => resolve({ port, release }));
  });
}

/** Takes a free port, for a while or only to know one. */
export async function takePort(): Promise<HeldPort> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST));
    const held = await hold(port);
    if (held) return held;
  }
}

/** A port where nobody listens. */
export async function freePort(): Promise<number> {
  const { port, release } = await takePort();
  await release();
  return port;
}
