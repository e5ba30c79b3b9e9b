import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../plan';
import { column, type Scenario } from '../scenario';
import { OURS, RECONNECTING } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

/** All channels end at once, and reconnect to a service that takes them. */
export const restart = (plan: Plan): Scenario => ({
  name: 'restart',
  title: `All of ${plan.channels} channels end at once`,
  subjects: [RECONNECTING, OURS],
  columns: [
    column('connected', 'until all are open again', 's', 1, 'lower'),
    column('recovered', 'until all histories are read', 's', 1, 'lower'),
  ],
  goals: [
    { of: OURS.name, by: RECONNECTING.name, column: 'connected', most: 1.3 },
    { of: OURS.name, column: 'recovered', most: 20 },
  ],
  rounds: plan.channelRounds,
  async measure(job) {
    const receiver = await Receiver.start(job);
    await receiver.open(plan.channels);
    // What the first time has shown is forgotten, and each connection has lasted for a while.
    await sleep(plan.idle * 1000);
    return receiver.restart(plan.channels);
  },
});
