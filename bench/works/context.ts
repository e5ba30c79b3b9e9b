import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../plan';
import type { Peer } from '../process/child';
import type { Sample } from '../process/meter';
import type { Methods } from '../process/rpc';
import type { Column } from '../report/results';
import type { Connects } from '../service/connects';
import type { ServiceMethods } from '../service/service';

/** What a work has to work with. */
export interface Context {
  plan: Plan;
  service: Peer<ServiceMethods>;
  http: string;
  https: string;
}

export const CPU: Column = { key: 'cpu', label: 'CPU each', unit: 'µs', digits: 1 };
export const RATE: Column = { key: 'rate', label: 'a second', unit: '', digits: 0 };
export const SERVICE: Column = {
  key: 'service',
  label: "service's CPU each",
  unit: 'µs',
  digits: 1,
};

export const cpuOf = ({ cpu, operations }: Sample): number => cpu / operations;
export const rateOf = ({ operations, seconds }: Sample): number => operations / seconds;

/** Uses a process for a while, and ends it whatever happens. */
export async function withPeer<M extends Methods<M>, T>(
  peer: Peer<M>,
  use: (peer: Peer<M>) => Promise<T>,
): Promise<T> {
  try {
    return await use(peer);
  } finally {
    await peer.end();
  }
}

const LOOK = 100;
/** Without a further channel for so long, no more will come. */
const STUCK = 30_000;

/** Waits until the service has so many channels, or gets no more. @returns what became of them */
export async function channelsOpen(
  service: Peer<ServiceMethods>,
  count: number,
): Promise<Connects> {
  let best = -1;
  let since = Date.now();
  for (;;) {
    const connects = await service.ask('connects');
    if (connects.open === count || Date.now() - since > STUCK) return connects;
    if (connects.open > best) {
      best = connects.open;
      since = Date.now();
    }
    await sleep(LOOK);
  }
}
