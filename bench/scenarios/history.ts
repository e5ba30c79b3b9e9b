import { chipidOf } from '../identity';
import { readMemory, startMeter, watchTurns } from '../meter';
import type { Plan } from '../plan';
import { column, type Job, type Scenario, type Subject } from '../scenario';
import { LONG_HISTORY } from '../service/readings';
import { bareReader, ourReader, type HistoryReader } from '../subjects/history-readers';

const OURS: Subject = { name: 'ours', label: 'client, read as a stream' };

const readerOf = (job: Job): Promise<HistoryReader> | HistoryReader =>
  job.subject === OURS.name
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
export const history = ({ rounds }: Plan): Scenario => ({
  name: 'history',
  title: 'A long history',
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
