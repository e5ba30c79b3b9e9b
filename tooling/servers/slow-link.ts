import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

const LOOPBACK = '127.0.0.1';

/** A direction carries at most what its rate allows in this many ms, then waits that long. */
const TICK = 10;
/** How much lateness of a busy machine is made up for, in ms, so that the link is no slower than its rate. */
const MADE_UP = 300;

/** A TCP relay on loopback with a limit of bytes a second for each direction of each connection. */
export interface SlowLink {
  readonly port: number;
  /** Bytes per second from now on. */
  rate: number;
  /** Whether answers are held back, or everything is. */
  isDeaf: boolean;
  isHeld: boolean;
  /** Bytes that were carried to the target. */
  readonly carried: number;
  close(): Promise<void>;
}

/** Starts a relay to a port of this machine. */
export async function startSlowLink(target: number, rate = Infinity): Promise<SlowLink> {
  const sockets = new Set<Socket>();
  const link = { rate, isDeaf: false, isHeld: false, carried: 0 };

  /** Carries what `from` receives. It is read no faster than it is carried, so that its sender has to wait. */
  const carry = (from: Socket, to: Socket, isUp: boolean): void => {
    /** When what was carried so far has passed. */
    let passed = 0;
    from.on('data', (bytes) => {
      from.pause();
      let rest = bytes;
      const next = (): void => {
        if (link.isHeld || (!isUp && link.isDeaf)) {
          setTimeout(next, TICK).unref();
          return;
        }
        const part = rest.subarray(0, Math.max(1, (link.rate * TICK) / 1000));
        rest = rest.subarray(part.length);
        if (isUp) link.carried += part.length;
        to.write(part);
        const now = performance.now();
        passed = Math.max(passed, now - MADE_UP) + (part.length * 1000) / link.rate;
        const goOn = (): unknown => (rest.length > 0 ? next() : from.resume());
        if (passed > now) setTimeout(goOn, passed - now).unref();
        else goOn();
      };
      next();
    });
    from.on('end', () => to.end());
  };
  const server = createServer({ noDelay: true }, (client) => {
    const service = connect({ port: target, host: LOOPBACK, noDelay: true });
    carry(client, service, true);
    carry(service, client, false);
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  server.listen(0, LOOPBACK);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return Object.assign(link, {
    port,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  });
}
