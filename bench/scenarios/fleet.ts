import { createRequire } from 'node:module';
import { join } from 'node:path';
import type { FleetRegistry } from '../../src/fleet/registry';
import type { byChipid } from '../../src/fleet/list-reading';
import type { DeviceRecord } from '../../src/types';
import { startMeter } from '../meter';
import type { Plan } from '../plan';
import { column, type Job, type Scenario } from '../scenario';
import { OURS, Receiver } from '../subjects/receiver';

const DEVICES = 5000;
const CHANNELS = 100;
/** Blocks of 16 uploads that are on their way on a channel at most. */
const WINDOW = 4;
/** Devices that change between two readings of the list: each hundredth. */
const CHANGING = 100;

const chipids = Array.from({ length: DEVICES }, (_, index) => String(10_000_001 + index));

interface FleetModules {
  FleetRegistry: typeof FleetRegistry;
  byChipid: typeof byChipid;
}

function modules({ packageFolder }: Job): FleetModules {
  const load = createRequire(join(packageFolder, 'package.json'));
  const read = (name: string): object => load(`./dist/src/fleet/${name}.js`) as object;
  return { ...read('registry'), ...read('list-reading') } as FleetModules;
}

/** The registry hears of uploads of all devices, in turn. @returns µs of CPU for each */
function hear(registry: FleetRegistry, seconds: number): number {
  const uploads = chipids.map((chipid) => {
    const body = Buffer.from(JSON.stringify({ temperature: 21.5, humidity: 40, chipid }));
    const upload = { chipid, appid: '1', timestamp: Date.now(), body };
    return { upload, base64: body.toString('base64') };
  });
  const measured = startMeter();
  const end = performance.now() + seconds * 1000;
  let count = 0;
  while (performance.now() < end) {
    for (const { upload, base64 } of uploads) registry.onLive(upload, base64);
    count += uploads.length;
  }
  return measured(count).cpu;
}

/** What the registry adds to an upload. */
const upload = ({ rounds }: Plan): Scenario => ({
  name: 'fleet-upload',
  title: `What the registry adds to an upload, ${DEVICES} devices`,
  subjects: [
    { name: 'whole', label: `an upload, ${CHANNELS} channels of a listen node` },
    { name: 'ours', label: 'the registry in it' },
  ],
  // Not compared with versions that have no registry.
  columns: [column('cpu', 'CPU each', 'µs', 2)],
  goals: [{ of: 'ours', by: 'whole', column: 'cpu', most: 0.05 }],
  rounds,
  async measure(job) {
    const { seconds, warmUp } = job.plan;
    if (job.subject === 'ours') {
      const registry = new (modules(job).FleetRegistry)(Date.now);
      hear(registry, warmUp);
      return { cpu: hear(registry, seconds) };
    }
    const receiver = await Receiver.start({ ...job, subject: OURS.name }, 'http');
    await receiver.open(CHANNELS);
    await receiver.flood(warmUp, WINDOW);
    return receiver.flood(seconds, WINDOW);
  },
});

const recordsWithout = (rest: number): DeviceRecord[] =>
  chipids
    .filter((_, index) => index % CHANGING !== rest)
    .map((chipid) => ({
      ...{ chipid: Number(chipid), devid: Number(chipid), appid: 1, vertype: 1 },
      ...{ name: `device ${chipid}`, devkey: 'x'.repeat(32), latest: '2026-01-01 00:00:00' },
    }));

/** Takes in the two lists in turn. @returns ms of CPU for each */
function takeIn(seconds: number, take: (list: number) => void): number {
  const measured = startMeter();
  const end = performance.now() + seconds * 1000;
  let count = 0;
  while (performance.now() < end) take(count++ % 2);
  return measured(count).cpu / 1000;
}

/** The list of the online devices, taken in: who has come, who has gone. */
const list = ({ rounds }: Plan): Scenario => ({
  name: 'fleet-list',
  title: `A list of ${DEVICES} devices`,
  subjects: [
    { name: 'bare', label: 'JSON.parse' },
    { name: 'ours', label: 'the registry' },
  ],
  columns: [column('cpu', 'CPU each', 'ms', 2)],
  goals: [{ of: 'ours', by: 'bare', column: 'cpu', most: 1, enough: 5 }],
  rounds,
  measure(job) {
    const { seconds, warmUp } = job.plan;
    const lists = [recordsWithout(1), recordsWithout(2)];
    const texts = lists.map((records) => JSON.stringify(records));
    const { FleetRegistry: Registry, byChipid: sort } = modules(job);
    const registry = new Registry(Date.now);
    const take =
      job.subject === 'bare'
        ? (at: number): void => void JSON.parse(texts[at] ?? '')
        : (at: number): void =>
            registry.onReading({ at: Date.now(), polled: true, ...sort(lists[at] ?? []) });
    takeIn(warmUp, take);
    return Promise.resolve({ cpu: takeIn(seconds, take) });
  },
});

export const fleetScenarios = (plan: Plan): Scenario[] => [upload(plan), list(plan)];
