import { readFileSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { setTimeout as sleep } from 'node:timers/promises';
import { repository } from '../../test/support/repository';
import { startMeter, type Sample } from '../process/meter';
import { serve } from '../process/rpc';
import { serveConnection, type Shared } from './connection';
import { countConnects, type Connects } from './connects';
import { countPushes, type PushCount } from './pushes';

/*
 * The service of the benchmark, a process of its own. It does what is measured and nothing else, on
 * bare sockets, so that the contender is slower than it: its own CPU is measured, too.
 */

/** What the service can be asked. */
export interface ServiceMethods {
  addresses(): { http: string; https: string };
  /** Uploads on all channels for so long, each with so many blocks on their way at most. */
  flood(how: { seconds: number; window: number }): Promise<Sample>;
  connects(): Connects;
  resetConnects(): void;
  pushes(): PushCount;
  /** CPU of the service since it was asked the last time. */
  cpu(): Sample;
}

const LOOPBACK = '127.0.0.1';
/** Thousands of channels are opened at once. */
const BACKLOG = 4096;

const listen = (server: Server): Promise<number> =>
  new Promise((resolve) => {
    server.listen({ port: 0, host: LOOPBACK, backlog: BACKLOG }, () =>
      resolve((server.address() as AddressInfo).port),
    );
  });

async function main(): Promise<void> {
  const shared: Shared = {
    pushes: countPushes(),
    connects: countConnects(),
    channels: new Map(),
    uploads: new Map(),
  };
  const onConnection = (socket: Socket): void => {
    socket.setNoDelay(true);
    serveConnection(shared, socket);
  };
  const certificate = (kind: string): Buffer =>
    readFileSync(join(repository, 'test', 'support', 'certs', `loopback.${kind}.pem`));
  const plain = createServer(onConnection);
  const secure = createTlsServer(
    { cert: certificate('cert'), key: certificate('key') },
    onConnection,
  );
  secure.on('tlsClientError', () => undefined);
  const [port, tlsPort] = await Promise.all([listen(plain), listen(secure)]);

  const sent = (): number => {
    let total = 0;
    for (const channel of shared.channels.values()) total += channel.sent;
    return total;
  };
  let meter = startMeter();

  serve<ServiceMethods>({
    addresses: () => ({
      http: `http://${LOOPBACK}:${port}`,
      https: `https://${LOOPBACK}:${tlsPort}`,
    }),
    async flood({ seconds, window }) {
      const before = sent();
      const measured = startMeter();
      for (const channel of shared.channels.values()) channel.flood(window);
      await sleep(seconds * 1000);
      for (const channel of shared.channels.values()) channel.stop();
      return measured(sent() - before);
    },
    connects: () => shared.connects.read(),
    resetConnects: () => shared.connects.reset(),
    pushes: () => shared.pushes.count,
    cpu() {
      const sample = meter(0);
      meter = startMeter();
      return sample;
    },
  });
}

void main();
