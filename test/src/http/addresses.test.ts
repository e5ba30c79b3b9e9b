import assert from 'node:assert/strict';
import dns from 'node:dns';
import { connect } from 'node:net';
import { mock } from 'node:test';
import { Worker } from 'node:worker_threads';
import { atEnd } from '../../tooling/servers/at-end';
import type { DeviceCloudClient } from '../../../src/client';
import { clientOf } from '../support/client';
import { listen } from '../support/listener';

/** A service whose thread can be blocked until the flag is set. */
const SERVICE = `
  const { createServer } = require('node:http');
  const { parentPort, workerData } = require('node:worker_threads');
  const { WebSocketServer } = require('ws');
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end('{"status":"online","msg":"OK"}');
  });
  new WebSocketServer({ server });
  // It is its own proxy, too.
  server.on('connect', (_request, socket) => {
    socket.write('HTTP/1.1 200 OK\\r\\n\\r\\n');
    server.emit('connection', socket);
  });
  parentPort.on('message', () => {
    parentPort.postMessage('still');
    Atomics.wait(workerData, 0, 0, 20_000);
  });
  const listening = () => parentPort.postMessage(server.address().port);
  server.listen({ host: '127.0.0.1', port: 0, backlog: 1 }, listening);
`;

/** Connections that the system takes for a listener with a backlog of 1; it answers no further SYN. */
const TAKEN = 2;
/** Milliseconds after which it does again. A lost SYN is repeated after a second, so a connection takes that long. */
const LOST = 600;

/** @returns the port of a service at which the next connection takes a second, and only with IPv4 there is one at all */
async function slowToConnect(): Promise<number> {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const goOn = (): void => {
    Atomics.store(flag, 0, 1);
    Atomics.notify(flag, 0);
  };
  const worker = new Worker(SERVICE, { eval: true, workerData: flag });
  atEnd(async () => {
    goOn();
    await worker.terminate();
  });
  const said = (): Promise<unknown> => new Promise((resolve) => worker.once('message', resolve));
  const port = Number(await said());
  const still = said();
  worker.postMessage('stand still');
  await still;
  for (let index = 0; index < TAKEN; index++) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    atEnd(() => void socket.destroy());
    await new Promise((resolve) => socket.once('connect', resolve));
  }
  type Found = (error: null, addresses: object[]) => void;
  const lookup = mock.method(dns, 'lookup', ((_name: string, _options: object, found: Found) =>
    process.nextTick(found, null, [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ])) as never);
  atEnd(() => lookup.mock.restore());
  setTimeout(goOn, LOST);
  return port;
}

describe('a name with an IPv4 and an IPv6 address, of which one is slow to connect and the other one is down', () => {
  const ways: Record<string, (port: number) => DeviceCloudClient> = {
    'as the service': (port) => clientOf(`http://service.test:${port}`),
    'as a proxy': (port) =>
      clientOf('http://inside.invalid', { proxy: { url: `http://proxy.test:${port}` } }),
  };
  for (const [what, open] of Object.entries(ways)) {
    it(`is reached ${what} by a call`, async () => {
      const client = open(await slowToConnect());
      assert.equal((await client.push(1, 'x')).statusCode, 200);
    });

    it(`is reached ${what} by a channel`, async () => {
      const listener = listen(open(await slowToConnect()));
      await listener.state('connected');
      assert.deepEqual(listener.changes, [{ state: 'connected', reason: undefined }]);
    });
  }
});
