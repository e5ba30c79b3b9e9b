import { createServer, type IncomingMessage } from 'node:http';
import type { Server } from 'node:net';
import { json } from 'node:stream/consumers';
import { onLoopback, type Loopback } from '../../test/tooling/servers/loopback';
import { ChannelServer } from './channel-server';
import { HistoryServer } from './history-server';
import { CONTROL, type Addresses, type Flood, type State } from './client';
import { PushServer } from './push-server';

function cpuSoFar(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** What a subject asks for. */
interface Control {
  seconds?: number;
  window?: number;
}

/** Starts the service in this process. It does what is measured, and nothing else. */
export async function startService(): Promise<{
  addresses: Addresses;
  close: () => Promise<void>;
}> {
  const pushes = new PushServer();
  const channels = new ChannelServer();
  const histories = new HistoryServer();

  async function control(request: IncomingMessage): Promise<State | Flood> {
    if (request.method === 'DELETE') {
      histories.grow();
      channels.drop();
    }
    if (request.method === 'POST') {
      const { seconds = 0, window = 1 } = (await json(request)) as Control;
      const before = cpuSoFar();
      const sent = await channels.flood(seconds, window);
      return { sent, cpu: cpuSoFar() - before };
    }
    const { open, ended, histories: read } = channels;
    return { cpu: cpuSoFar(), pushes: pushes.count, open, ended, histories: read };
  }

  const http = createServer((request, response) => {
    if (request.url !== CONTROL) channels.answer(request, response);
    else void control(request).then((answer) => response.end(JSON.stringify(answer)));
  });
  for (const server of [http, histories.server]) {
    // A connection that idles between two histories is not a fault to recover from.
    server.keepAliveTimeout = 0;
    channels.attach(server);
  }
  // Thousands of channels are opened at once.
  const listen = (server: Server): Promise<Loopback> => onLoopback(server, { backlog: 4096 });
  const [push, long, plain] = [
    await listen(pushes.server),
    await listen(histories.server),
    await listen(http),
  ];
  return {
    addresses: {
      push: `http://127.0.0.1:${push.port}`,
      histories: `http://127.0.0.1:${long.port}`,
      http: `http://127.0.0.1:${plain.port}`,
    },
    async close() {
      await Promise.all([push, long, plain].map(({ close }) => close()));
    },
  };
}
