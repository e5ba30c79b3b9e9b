import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import { json } from 'node:stream/consumers';
import { certificate } from '../identity';
import { ChannelServer } from './channel-server';
import { CONTROL, type Addresses, type Flood, type State } from './client';
import { PushServer } from './push-server';

const listen = (server: Server): Promise<string> =>
  new Promise((resolve) => {
    // Thousands of channels are opened at once.
    server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
      resolve(`127.0.0.1:${(server.address() as AddressInfo).port}`),
    );
  });

function cpuSoFar(): number {
  const { user, system } = process.cpuUsage();
  return user + system;
}

/** What a subject asks for. */
interface Control {
  seconds?: number;
  window?: number;
  perSecond?: number;
  step?: number;
}

/** Starts the service in this process. It does what is measured, and nothing else. */
export async function startService(): Promise<{ addresses: Addresses; close: () => void }> {
  const pushes = new PushServer();
  const channels = new ChannelServer();

  async function control(request: IncomingMessage): Promise<State | Flood> {
    if (request.method === 'DELETE') channels.drop();
    const { method } = request;
    if (method === 'PUT') channels.throttle(((await json(request)) as Control).perSecond);
    if (method === 'POST') {
      const { seconds = 0, window = 1, perSecond, step } = (await json(request)) as Control;
      const before = cpuSoFar();
      const sent =
        step !== undefined
          ? channels.stagger(step)
          : perSecond === undefined
            ? await channels.flood(seconds, window)
            : await channels.upload(seconds, perSecond);
      return { sent, cpu: cpuSoFar() - before };
    }
    const { open, ended, histories, upgrades, readings } = channels;
    const counts = { most: upgrades.most, mostReadings: readings.most };
    return { cpu: cpuSoFar(), pushes: pushes.count, open, ended, histories, ...counts };
  }

  const http = createServer((request, response) => {
    if (request.url !== CONTROL) channels.answer(request, response);
    else void control(request).then((answer) => response.end(JSON.stringify(answer)));
  });
  const tls = { cert: readFileSync(certificate('cert')), key: readFileSync(certificate('key')) };
  const https = createTlsServer(tls, channels.answer);
  for (const server of [http, https]) {
    // A connection that idles between two histories is not a fault to recover from.
    server.keepAliveTimeout = 0;
    channels.attach(server);
  }
  const servers = [pushes.server, http, https];
  const [push = '', plain = '', secure = ''] = await Promise.all(servers.map(listen));
  return {
    addresses: { push: `http://${push}`, http: `http://${plain}`, https: `https://${secure}` },
    close: () => servers.forEach((server) => server.close()),
  };
}
