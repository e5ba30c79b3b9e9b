import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A connection from the client and the one that carries it on. */
interface Pair {
  client: Socket;
  service: Socket;
}

/** A TCP relay on loopback that can be as bad as a network. */
export interface Front {
  readonly port: number;
  /** Connections that were cut for their age. */
  readonly aged: number;
  /** Breaks connections off. @param reset by RST instead of FIN */
  cut(count: number, reset: boolean, roll: (sides: number) => number): void;
  /** Carries nothing for a while, either way, closing nothing; then goes on, or drops the connections. */
  silence(count: number, ms: number, goesOn: boolean, roll: (sides: number) => number): void;
  /** The service is gone: every connection is reset and new ones are refused for a while. */
  restart(ms: number): void;
  /** From now on cuts each connection this many milliseconds after it was opened, as some middleboxes do. */
  age(ms: number): void;
  /** Ends every trouble that is under way. */
  heal(): Promise<void>;
  close(): Promise<void>;
}

const LOOPBACK = '127.0.0.1';

/** Starts a relay to a port of this machine. */
export async function startFront(target: number): Promise<Front> {
  const pairs = new Set<Pair>();
  const troubles = new Map<NodeJS.Timeout, () => void>();
  const ages = new Map<Pair, NodeJS.Timeout>();
  let oldest: number | undefined;
  let aged = 0;

  const drop = (pair: Pair, reset: boolean): void => {
    pairs.delete(pair);
    clearTimeout(ages.get(pair));
    ages.delete(pair);
    for (const socket of [pair.client, pair.service]) {
      if (reset) socket.resetAndDestroy();
      else socket.destroy();
    }
  };
  const carry = ({ client, service }: Pair): void => {
    client.pipe(service);
    service.pipe(client);
  };
  const hold = ({ client, service }: Pair): void => {
    client.unpipe(service).pause();
    service.unpipe(client).pause();
  };
  const startAge = (pair: Pair, ms: number): void => {
    const timer = setTimeout(() => {
      aged++;
      drop(pair, true);
    }, ms);
    ages.set(pair, timer);
  };
  const server = createServer({ noDelay: true }, (client) => {
    const pair = { client, service: connect({ port: target, host: LOOPBACK, noDelay: true }) };
    pairs.add(pair);
    if (oldest !== undefined) startAge(pair, oldest);
    for (const socket of [client, pair.service]) {
      socket.on('error', () => undefined);
      socket.once('close', () => drop(pair, false));
    }
    carry(pair);
  });

  const listen = async (port: number): Promise<void> => {
    server.listen(port, LOOPBACK);
    await once(server, 'listening');
  };
  const after = (ms: number, then: () => void): void => {
    const timer = setTimeout(() => {
      troubles.delete(timer);
      then();
    }, ms);
    troubles.set(timer, then);
  };
  const some = (count: number, roll: (sides: number) => number): Pair[] => {
    const all = [...pairs];
    return Array.from({ length: Math.min(count, all.length) }, () =>
      all.splice(roll(all.length), 1),
    ).flat();
  };

  await listen(0);
  const { port } = server.address() as AddressInfo;
  let back: Promise<void> = Promise.resolve();

  return {
    port,
    get aged() {
      return aged;
    },
    cut(count, reset, roll) {
      for (const pair of some(count, roll)) drop(pair, reset);
    },
    silence(count, ms, goesOn, roll) {
      for (const pair of some(count, roll)) {
        hold(pair);
        after(ms, () => {
          if (!pairs.has(pair)) return;
          if (goesOn) carry(pair);
          else drop(pair, true);
        });
      }
    },
    restart(ms) {
      if (!server.listening) return;
      server.close();
      for (const pair of pairs) drop(pair, true);
      after(ms, () => {
        back = listen(port);
      });
    },
    age(ms) {
      oldest = ms;
      for (const pair of pairs) startAge(pair, ms);
    },
    async heal() {
      oldest = undefined;
      for (const timer of ages.values()) clearTimeout(timer);
      ages.clear();
      const ends = [...troubles];
      troubles.clear();
      for (const [timer, then] of ends) {
        clearTimeout(timer);
        then();
      }
      await back;
    },
    async close() {
      for (const timer of [...troubles.keys(), ...ages.values()]) clearTimeout(timer);
      for (const pair of pairs) drop(pair, false);
      if (server.listening) await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
