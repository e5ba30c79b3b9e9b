import { startSimulator, type Simulator, type UploadOptions } from '../../src/simulator';
import { startFront } from '../tooling/servers/front';
import { startChaos, type Chaos } from './chaos';
import { createDice } from './dice';
import { shortOf, type Accepted } from './lines';
import type { Target } from './node-red';
import type { SoakOptions } from './options';
import { actedOn, PEERS, PEERS_ANSWER, startSleeping } from './peers';
import { createSpoiling } from './spoiling';
import { startTraffic } from './traffic';

/** The service, the network in front of it, the devices' uploads and all trouble. */
export interface Service extends Target {
  /** What it has accepted of the devices whose uploads count. */
  readonly accepted: readonly Accepted[];
  /** Devices whose history has been read at least once. */
  readonly read: ReadonlySet<string>;
  /** How many of the devices have an open channel. */
  open(): number;
  /** Begins with uploads and trouble. */
  begin(): void;
  /** Ends both. */
  calm(): Promise<void>;
  /** What became of it. */
  report(): Report;
  close(): Promise<void>;
}

export interface Report {
  /** Histories read. */
  readings: number;
  /** Of them those that had something wrong in them. */
  spoilt: number;
  /** Of the time of trouble, the share that a channel was open, on average. */
  connected: number;
  /** How often each kind of trouble came. */
  troubles: Record<string, number>;
  /** How often the peers got the push with each serial. */
  acted: Record<string, number>;
}

/** Uploads of each device that are in its history before the listener is there: they need not be emitted. */
const EARLIER = 3;
const LOOK = 100;
/** Milliseconds after which a middlebox cuts each connection. */
const CUT = 20_000;

/** Every fifth device of the public server has a clock that is two hours behind. */
const [WRONG_CLOCK, BEHIND] = [5, 2 * 3_600_000];

/**
 * What the history of the public server keeps of an upload, as far as a client can tell: written down here once more, so that
 * the simulator is not checked with its own code.
 */
function keptOf(body: string): string {
  const [first = '', ...rest] = body.trim().split(',');
  return rest.length === 0 ? first : rest.join('');
}

/** Measures which share of the channels is open. @returns ends it, and gives the share */
function watchChannels(open: () => number, devices: number): () => number {
  let [looks, sum] = [0, 0];
  const timer = setInterval(() => {
    looks++;
    sum += open();
  }, LOOK);
  return () => {
    clearInterval(timer);
    return looks === 0 ? 1 : sum / (looks * devices);
  };
}

export async function startService(options: SoakOptions): Promise<Service> {
  const { devices, rate, seed, isPublic } = options;
  const simulator: Simulator = await startSimulator({
    dialect: isPublic ? 'public-2016' : 'document',
    devices: devices + PEERS,
    interval: 0,
    offlineAfter: 1000,
  });
  const front = await startFront(simulator.port);
  const all = [...simulator.devices.keys()];
  const [chipids, peers] = [all.slice(0, devices), all.slice(devices)];
  const spoiling = createSpoiling(createDice(`${seed} records`));
  const accepted: Accepted[] = [];
  const read = new Set<string>();
  let readings = 0;
  let connected = 1;
  let chaos: Chaos | undefined;
  let ends: (() => void)[] = [];

  const upload = (chipid: string, body: string, how?: UploadOptions): void => {
    const isBehind = isPublic && Number(chipid) % WRONG_CLOCK === 0;
    const made = isBehind ? Date.now() - BEHIND : Date.now();
    const { id, at } = simulator.upload(chipid, body, { made, ...how });
    const entry: Accepted = { id, chipid, at, body: shortOf(body) };
    const kept = isPublic ? keptOf(body) : body;
    accepted.push(kept === body ? entry : { ...entry, kept: shortOf(kept) });
  };
  for (const chipid of chipids) {
    for (let count = 0; count < EARLIER; count++) simulator.upload(chipid, `earlier ${count}`);
  }
  for (const chipid of peers) simulator.delay(chipid, PEERS_ANSWER);
  const note = (chipid: string): void => {
    readings++;
    read.add(chipid);
  };
  simulator.rewriteHistory((records, chipid) => {
    note(chipid);
    return records;
  });

  const open = (): number => chipids.filter((chipid) => simulator.channels(chipid) > 0).length;
  return {
    ...{ chipids, peers, accepted, read, open },
    service: { ...simulator, baseUrl: `http://127.0.0.1:${front.port}` },
    begin() {
      const dice = (what: string) => createDice(`${seed} ${what}`);
      simulator.rewriteHistory((records, chipid) => {
        note(chipid);
        return spoiling.rewrite(records, chipid);
      });
      const share = watchChannels(open, devices);
      ends = [
        startTraffic(chipids, rate, dice('uploads'), isPublic, upload),
        startSleeping(simulator, peers, dice('sleep')),
        () => (connected = share()),
      ];
      chaos = startChaos(simulator, front, dice('chaos'), isPublic, chipids, upload);
      front.age(CUT);
    },
    async calm() {
      await chaos?.stop();
      for (const end of ends) end();
    },
    report() {
      const troubles = Object.fromEntries(chaos?.counts ?? []);
      troubles['connections cut for their age'] = front.aged;
      const acted = actedOn(simulator, peers);
      return { readings, spoilt: spoiling.count, connected, troubles, acted };
    },
    async close() {
      await front.close();
      await simulator.close();
    },
  };
}
