import { chipidOf } from '../identity';
import { readMemory, startMeter, watchTurns } from '../meter';
import type { Plan } from '../plan';
import { column, CPU, SERVICE, type Job, type Scenario, type Subject } from '../scenario';
import { LONG_HISTORY, YEAR } from '../service/readings';
import { bareReader, ourReader, type HistoryReader } from '../subjects/history-readers';

const OURS: Subject = { name: 'ours', label: 'client, read as a stream' };
const OURS_64: Subject = { name: 'ours-64', label: 'the same, all records of the first 64 KB' };

const readerOf = (job: Job): Promise<HistoryReader> | HistoryReader =>
  job.subject.startsWith(OURS.name)
    ? ourReader(job.service.addresses.histories, job.packageFolder)
    : bareReader(job.service.addresses.histories);

const MEGABYTE = 1_000_000;
const KILOBYTE = 1000;

/** Records that a reading looks at after an outage in which few uploads were missed. */
const FEW = 10;

/** Milliseconds between two looks at the memory. */
const LOOK = 5;

/** Watches the memory of this process. The function that it returns ends that. */
function watchMemory(): () => number {
  let most = 0;
  const look = (): void => {
    most = Math.max(most, process.memoryUsage.rss());
  };
  const timer = setInterval(look, LOOK);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

/** A history that is much longer than an answer may otherwise be. */
const long = ({ rounds }: Plan): Scenario => ({
  name: 'history-long',
  title: `A history of 200 MB, and the ${FEW} newest records of one of ${YEAR}`,
  subjects: [{ name: 'bare', label: 'undici Pool, JSON.parse' }, OURS],
  columns: [
    column('memory', 'memory, at most', 'MB', 0, 'lower'),
    column('block', 'most CPU in one turn', 'ms', 0, 'lower'),
    column('seconds', 'time', 's', 2, 'lower'),
    column('cpu', 'CPU', 's', 2, 'lower'),
    column('few', `read for ${FEW} records`, 'KB', 0, 'lower'),
  ],
  goals: [
    { of: OURS.name, column: 'memory', most: 40 },
    { of: OURS.name, column: 'block', most: 50 },
    { of: OURS.name, column: 'few', most: 300 },
  ],
  rounds,
  async measure(job) {
    const reader = await readerOf(job);
    const isOurs = job.subject === OURS.name;
    const few = await reader.read(chipidOf(0), isOurs ? FEW : undefined);
    const readAll = async (): Promise<void> => {
      const { records } = await reader.read(chipidOf(LONG_HISTORY.device));
      if (records !== LONG_HISTORY.records) throw new Error(`${records} records came.`);
    };
    const before = await readMemory();
    const memory = watchMemory();
    const meter = startMeter();
    await readAll();
    const { cpu, rate } = meter(1);
    const most = memory();
    const turns = watchTurns();
    await readAll();
    const block = turns();
    await reader.close();
    return {
      memory: (most - before.rss) / MEGABYTE,
      block,
      seconds: 1 / rate,
      cpu: cpu / 1e6,
      few: few.bytes / KILOBYTE,
    };
  },
});

const DEVICES = 1000;
const WARM_UP = 200;
/** Records that fill 64 KB. */
const MANY = 450;

/** All devices come back after an outage, each with a year of history. */
const years = ({ rounds }: Plan): Scenario => ({
  name: 'history-years',
  title: `${DEVICES} devices at once, ${YEAR} records each, newest first`,
  subjects: [
    { name: 'limit', label: 'undici Pool, the first 64 KB' },
    { ...OURS, label: `client, the first ${FEW} records` },
    OURS_64,
  ],
  columns: [
    { ...CPU, label: 'CPU a history', unit: 'ms', digits: 2 },
    column('seconds', 'time', 's', 2, 'lower'),
    column('read', 'read of a history', 'KB', 0, 'lower'),
    { ...SERVICE, label: "service's CPU each", unit: 'ms', digits: 2 },
  ],
  goals: [OURS, OURS_64].map(({ name }) => ({
    ...{ of: name, by: 'limit', column: 'seconds', most: 1.3 },
  })),
  rounds,
  async measure(job) {
    const reader = await readerOf(job);
    const records = job.subject === OURS_64.name ? MANY : FEW;
    const read = async (from: number, to: number): Promise<number> => {
      const all = Array.from({ length: to - from }, (_, i) =>
        reader.read(chipidOf(from + i), records),
      );
      const answers = await Promise.all(all);
      if (answers.some((answer) => answer.records !== records)) throw new Error('Records lack.');
      return answers.reduce((sum, { bytes }) => sum + bytes, 0);
    };
    await read(0, WARM_UP);
    const before = await job.service.state();
    const meter = startMeter();
    const bytes = await read(WARM_UP, WARM_UP + DEVICES);
    const { cpu, rate } = meter(DEVICES);
    const after = await job.service.state();
    await reader.close();
    return {
      cpu: cpu / 1000,
      seconds: DEVICES / rate,
      read: bytes / DEVICES / KILOBYTE,
      service: (after.cpu - before.cpu) / DEVICES / 1000,
    };
  },
});

/** Histories that a service keeps without a limit, and gives without pages. */
export const historyScenarios = (plan: Plan): Scenario[] => [long(plan), years(plan)];
