import {
  startSimulator,
  type DialectName,
  type Simulator,
  type UploadOptions,
} from '../../src/simulator';
import { startChaos, type Chaos } from './chaos';
import { createCounter } from './counter';
import { createDice } from './dice';
import { startFront } from '../tooling/servers/front';
import { appendTo, shortOf, type Accepted } from './lines';
import type { Command, Report, ServiceSettings } from './service-messages';
import { actedOn, PEERS, PEERS_ANSWER, startSleeping } from './peers';
import { createSpoiling } from './spoiling';
import { isLossy, keptAs } from './kept';
import { startTraffic } from './traffic';

/*
 * A process of its own: the service, the network in front of it, the devices' uploads and all trouble.
 * It obeys its parent, and ends with it.
 */

const EARLIER = 3;
const LOOK = 100;

/** Every fifth device of the public server has a clock that is two hours behind. */
const [WRONG_CLOCK, BEHIND] = [5, 2 * 3_600_000];

/** When a device of a dialect makes an upload, by its clock. */
const madeBy = (chipid: string, dialect: DialectName): number =>
  dialect === 'document' || Number(chipid) % WRONG_CLOCK > 0 ? Date.now() : Date.now() - BEHIND;

const answer = (report: Report): void => void process.send?.(report);

/** How many of the devices have an open channel. */
const openChannels = (simulator: Simulator, chipids: readonly string[]): number =>
  chipids.filter((chipid) => simulator.channels(chipid) > 0).length;

/** Measures which share of the channels is open, from now on. */
function watchChannels(simulator: Simulator, chipids: readonly string[]): () => number {
  let looks = 0;
  let open = 0;
  const timer = setInterval(() => {
    looks++;
    open += openChannels(simulator, chipids);
  }, LOOK);
  timer.unref();
  return () => (looks === 0 ? 1 : open / (looks * chipids.length));
}

async function serve(settings: ServiceSettings): Promise<void> {
  const { devices, rate, seed, cut, history, acceptedFile } = settings;
  const { dialect = 'document', replace = false } = settings;
  const simulator = await startSimulator({
    dialect,
    replace,
    devices: devices + PEERS,
    interval: 0,
    offlineAfter: 1000,
    historyEncoding: history,
  });
  const front = await startFront(simulator.port);
  const counts = createCounter(simulator.requests);
  const append = appendTo(acceptedFile);
  const all = [...simulator.devices.keys()];
  const [chipids, peers] = [all.slice(0, devices), all.slice(devices)];
  const spoiling = createSpoiling(createDice(`${seed} records`));
  let stopTraffic: (() => void) | undefined;
  let wakeAll: (() => void) | undefined;
  let chaos: Chaos | undefined;
  let connected = (): number => 1;

  const upload = (chipid: string, body: string, how?: UploadOptions): void => {
    const { id, at } = simulator.upload(chipid, body, { made: madeBy(chipid, dialect), ...how });
    const kept = keptAs(history, body);
    const accepted: Accepted = { id, chipid, at, body: shortOf(body) };
    if (kept !== body) accepted.kept = shortOf(kept);
    append(JSON.stringify(accepted));
  };
  // What was there before the listener need not be emitted.
  for (const chipid of chipids) {
    for (let count = 0; count < EARLIER; count++) simulator.upload(chipid, `earlier ${count}`);
  }

  for (const chipid of peers) simulator.delay(chipid, PEERS_ANSWER);

  const begin = (): void => {
    stopTraffic = startTraffic(
      chipids,
      rate,
      createDice(`${seed} uploads`),
      isLossy(history) ? 'lossy' : 'whole',
      upload,
    );
    simulator.rewriteHistory(spoiling.rewrite);
    chaos = startChaos(
      simulator,
      front,
      createDice(`${seed} chaos`),
      { history, dialect },
      chipids,
      upload,
    );
    wakeAll = startSleeping(simulator, peers, createDice(`${seed} sleep`));
    front.age(cut * 1000);
    connected = watchChannels(simulator, chipids);
  };
  const calm = async (): Promise<void> => {
    const share = connected();
    connected = () => share;
    await chaos?.stop();
    stopTraffic?.();
    wakeAll?.();
  };
  const obey = async (command: Command): Promise<void> => {
    if (command === 'begin') begin();
    else if (command === 'calm') await calm();
    const troubles = Object.fromEntries(chaos?.counts ?? []);
    if (front.aged > 0) troubles['connections cut for their age'] = front.aged;
    answer({
      command,
      channels: openChannels(simulator, chipids),
      ...counts(),
      spoilt: spoiling.count,
      connected: connected(),
      troubles,
      ...(command === 'acted' && { acted: actedOn(simulator, peers) }),
    });
  };
  process.on('message', (command: Command) => {
    obey(command).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  const { appid, appkey, serverKey, serverPassword } = simulator;
  const credentials = { appid, appkey, serverKey, serverPassword };
  answer({ ready: { ...credentials, baseUrl: `http://127.0.0.1:${front.port}`, chipids, peers } });
}

process.once('disconnect', () => process.exit());
process.once('message', (settings: ServiceSettings) => {
  serve(settings).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
