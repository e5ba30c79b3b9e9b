import { chipidOf } from '../identity';
import type { Plan } from '../plan';
import { column, CPU, type Scenario, type Subject } from '../scenario';
import { startMeter } from '../meter';
import { HISTORY } from '../service/readings';
import { bareReader } from '../subjects/history-readers';
import { ourRecovery, type Histories } from '../subjects/our-recovery';

const BARE: Subject = { name: 'limit', label: 'undici Pool, JSON.parse' };
const OURS: Subject = { name: 'ours', label: 'client, recovery' };

const DEVICES = 500;
/**
 * Histories that are read before: then V8 has compiled what is measured, and recovery has found how many readings a
 * second the service takes. It begins at 50, so that from a start the rate alone makes the first 500 last 2.4 s.
 */
const WARM_UP = 2000;

async function bareHistories(baseUrl: string): Promise<Histories> {
  const { read, close } = await bareReader(baseUrl);
  return {
    async read(from, to) {
      const all = Array.from({ length: to - from }, (_, i) => read(chipidOf(from + i)));
      return (await Promise.all(all)).reduce((sum, { records }) => sum + records, 0);
    },
    close,
  };
}

/** Uploads that were missed on many devices are recovered; the channels are open already. */
export const recovery = ({ rounds }: Plan): Scenario => ({
  name: 'recovery',
  title: `${HISTORY} missed uploads on each of ${DEVICES} devices`,
  subjects: [BARE, OURS],
  columns: [
    { ...CPU, label: 'CPU a history', unit: 'ms', digits: 2 },
    column('seconds', 'time', 's', 2, 'lower'),
  ],
  goals: [{ of: 'ours', by: 'limit', column: 'cpu', most: 1.5 }],
  rounds,
  async measure({ subject, service, packageFolder }) {
    const { read, close } = await (subject === BARE.name
      ? bareHistories(service.addresses.http)
      : ourRecovery(service, packageFolder, WARM_UP + DEVICES));
    await read(0, WARM_UP);
    const measured = startMeter();
    const count = await read(WARM_UP, WARM_UP + DEVICES);
    const { cpu, rate } = measured(DEVICES);
    close();
    if (count !== DEVICES * HISTORY) throw new Error(`${count} uploads came.`);
    return { cpu: cpu / 1000, seconds: DEVICES / rate };
  },
});
