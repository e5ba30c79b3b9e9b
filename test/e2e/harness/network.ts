import { createServer as createProxy } from 'node:http';
import { createServer as createSecure } from 'node:https';
import { connect } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { LOOPBACK } from '../../../tooling/servers/certs';

/** What may stand between Node-RED and the service. */
export interface Network {
  /** Address of a proxy that makes tunnels. */
  proxy: string;
  /** Host and port of each tunnel that was asked for. */
  tunnels: string[];
  /** Address of a service whose certificate nobody knows; it gives the same answer to everything. */
  secure: string;
  close: () => void;
}

const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
};

export async function startNetwork(answer: object): Promise<Network> {
  const sockets: Socket[] = [];
  const tunnels: string[] = [];
  const proxy = createProxy().on('connect', ({ url = '' }, client: Socket) => {
    tunnels.push(url);
    const target = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      client.pipe(target).pipe(client);
    });
    for (const socket of [client, target]) sockets.push(socket.on('error', () => undefined));
  });
  const secure = createSecure(LOOPBACK, (_request, response) => {
    response.end(JSON.stringify(answer));
  });
  return {
    proxy: `http://127.0.0.1:${await listening(proxy)}`,
    tunnels,
    secure: `https://127.0.0.1:${await listening(secure)}`,
    close() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      secure.close();
    },
  };
}
