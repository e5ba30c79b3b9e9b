import { setTimeout as sleep } from 'node:timers/promises';
import { chipidOf } from '../identity';
import { startMeter } from '../meter';
import type { Plan } from '../plan';
import { column, CPU, type Scenario, type Subject } from '../scenario';
import { bareOutage, ourOutage } from '../subjects/outage';

const BARE: Subject = {
  name: 'limit',
  label: 'bare ws and undici Pool',
};
const OURS: Subject = { name: 'ours', label: 'client, recovery' };

const DEVICES = 1000;
/**
 * Milliseconds before an outage. A channel that was cut doubles its next pause unless it has been open for 24 s since: the
 * warm-up, itself an outage, must not count.
 */
const PAUSE = 25_000;

/** All channels end at once; each device has a year of history, and a few uploads that were missed. */
export const outage = ({ rounds }: Plan): Scenario => ({
  name: 'outage',
  title: `${DEVICES} devices back after an outage`,
  subjects: [BARE, OURS],
  columns: [
    column('seconds', 'until all is read', 's', 2, 'lower'),
    { ...CPU, label: 'CPU a device', unit: 'ms', digits: 2 },
  ],
  goals: [{ of: OURS.name, by: BARE.name, column: 'seconds', most: 1.3 }],
  rounds,
  async measure({ subject, service, packageFolder }) {
    const start = subject === BARE.name ? bareOutage : ourOutage;
    const baseUrl = service.addresses.histories;
    // What the subject before this one has left is closed first.
    await service.channelsOpen(0);
    const chipids = Array.from({ length: DEVICES }, (_, index) => chipidOf(index));
    const { isBack, close } = await start(baseUrl, packageFolder, chipids);
    const back = isBack();
    await service.channelsOpen(DEVICES);
    await back;
    const pass = async (): Promise<void> => {
      const next = isBack();
      await service.drop();
      await next;
    };
    // The first outage is a warm-up, in which V8 compiles what is measured.
    await sleep(PAUSE);
    await pass();
    await sleep(PAUSE);
    const measured = startMeter();
    await pass();
    const { cpu, rate } = measured(DEVICES);
    await close();
    return { cpu: cpu / 1000, seconds: DEVICES / rate };
  },
});
