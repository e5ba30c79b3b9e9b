import { startSimulator, type RequestRecord } from '../../src/simulator';
import { startChaos, type Chaos } from './chaos';
import { createDice } from './dice';
import { startFront } from './front';
import { appendTo } from './lines';
import type { Command, Report, ServiceSettings } from './service-messages';
import { startTraffic } from './traffic';

/*
 * A process of its own: the service, the network in front of it, the devices' uploads and all trouble.
 * It obeys its parent, and ends with it.
 */

const EARLIER = 3;
const LOOK = 100;

const answer = (report: Report): void => void process.send?.(report);

/** Counts requests before the simulator forgets them, until the process ends. */
function createCounter(requests: readonly RequestRecord[]) {
  const open = new Set<RequestRecord>();
  const devicesRead = new Set<string>();
  let lastSeen: RequestRecord | undefined;
  let upgrades = 0;
  let readings = 0;

  const look = (): void => {
    const from = lastSeen === undefined ? 0 : requests.lastIndexOf(lastSeen) + 1;
    for (const request of requests.slice(from)) open.add(request);
    lastSeen = requests.at(-1);
    for (const request of open) {
      const device = /up_messages\/dev\/(\d+)/.exec(request.path)?.[1];
      if (request.status === 101) upgrades++;
      else if (request.status === 200 && device !== undefined) {
        readings++;
        devicesRead.add(device);
      }
      // Without a status it may still get one; with one it is done.
      if (request.status !== 0 || Date.now() - request.at > 30_000) open.delete(request);
    }
  };
  setInterval(look, LOOK);
  return () => ({ upgrades, readings, devicesRead: devicesRead.size });
}

async function serve({ devices, rate, seed, acceptedFile }: ServiceSettings): Promise<void> {
  const simulator = await startSimulator({ devices, interval: 0, seed });
  const front = await startFront(simulator.port);
  const counts = createCounter(simulator.requests);
  const append = appendTo(acceptedFile);
  let stopTraffic: (() => void) | undefined;
  let chaos: Chaos | undefined;

  // What was there before the listener is not owed.
  for (const chipid of simulator.devices.keys()) {
    for (let count = 0; count < EARLIER; count++) simulator.upload(chipid, `earlier ${count}`);
  }

  const obey = async (command: Command): Promise<void> => {
    if (command === 'begin') {
      stopTraffic = startTraffic(simulator, rate, createDice(`${seed} uploads`), (id, chipid, at, body) =>
        append(JSON.stringify({ id, chipid, at, body })),
      ); // prettier-ignore
      chaos = startChaos(simulator, front, createDice(`${seed} chaos`));
    } else if (command === 'calm') {
      await chaos?.stop();
      stopTraffic?.();
    }
    const troubles = Object.fromEntries(chaos?.counts ?? []);
    answer({ command, channels: simulator.channels(), ...counts(), troubles });
  };
  process.on('message', (command: Command) => {
    obey(command).catch((error: unknown) => {
      console.error(error);
      process.exit(1);
    });
  });
  const { appid, appkey, serverKey, serverPassword } = simulator;
  const credentials = { appid, appkey, serverKey, serverPassword };
  answer({ ready: { ...credentials, baseUrl: `http://127.0.0.1:${front.port}`, chipids: [...simulator.devices.keys()] } }); // prettier-ignore
}

process.once('disconnect', () => process.exit());
process.once('message', (settings: ServiceSettings) => {
  serve(settings).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});
