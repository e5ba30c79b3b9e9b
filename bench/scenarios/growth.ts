import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory } from '../meter';
import { column, type Scenario } from '../scenario';
import { OURS, OURS_OFF } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

const CHANNELS = 100;
const WINDOW = 4;
/** Parts of the time, after each of which the memory is read. */
const PARTS = 6;
/** Milliseconds until what is under way has ended. */
const REST = 1000;

/**
 * The memory of a listener in the course of very many uploads. The least that can be kept of one is
 * a number, of 8 bytes: with much less, nothing is.
 */
export const growth = (): Scenario => ({
  name: 'growth',
  title: `Memory of a listener with time, ${CHANNELS} channels`,
  subjects: [OURS, OURS_OFF],
  columns: [
    column('first', 'objects, first half', 'MB', 2),
    column('second', 'second half', 'MB', 2),
    column('uploads', 'uploads received', '', 0),
    column('kept', 'kept of an upload', 'bytes', 2),
  ],
  goals: [],
  rounds: 1,
  async measure(job) {
    const receiver = await Receiver.start(job, 'http');
    await receiver.open(CHANNELS);
    const objects: number[] = [];
    let uploads = 0;
    for (let part = 1; part <= PARTS; part++) {
      while (uploads < (job.plan.growth * part) / PARTS) {
        const { sent = NaN } = await receiver.flood(job.plan.warmUp, WINDOW);
        uploads += sent;
      }
      await sleep(REST);
      objects.push((await readMemory()).objects);
    }
    // The least of several: what is only passing through is not there each time.
    const first = Math.min(...objects.slice(0, PARTS / 2));
    const second = Math.min(...objects.slice(PARTS / 2));
    const kept = Math.max(0, second - first) / (uploads / 2);
    return { uploads, first: first / 1e6, second: second / 1e6, kept };
  },
});
