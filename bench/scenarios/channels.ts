import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory, type Memory } from '../meter';
import type { Plan } from '../plan';
import { column, type Job, type Scenario, type Values } from '../scenario';
import { CORE, LIMIT, OURS, OURS_OFF } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

async function measure(job: Job): Promise<Values> {
  const { service, plan } = job;
  const receiver = await Receiver.start(job);
  // One first, so that what is loaded with it is not counted as the channels'.
  await receiver.open(1);
  const before = await readMemory();
  const seconds = await receiver.open(plan.channels);
  const { ended } = await service.state();
  await sleep(plan.idle * 1000);
  const after = await readMemory();
  const state = await service.state();
  if (state.open !== plan.channels || state.ended !== ended) {
    throw new Error(`${state.ended - ended} channels were dropped, ${state.open} are open.`);
  }
  const each = (key: keyof Memory): number =>
    (after[key] - before[key]) / (plan.channels - 1) / 1024;
  return { objects: each('objects'), used: each('used'), rss: each('rss'), seconds };
}

/** Channels held open, with heartbeats and pings at their defaults. */
export const channels = (plan: Plan): Scenario => ({
  name: 'channels',
  title: `Memory of a channel, ${plan.channels} channels`,
  subjects: [LIMIT, CORE, OURS, OURS_OFF],
  columns: [
    column('used', 'memory', 'KB', 1, 'lower'),
    column('objects', 'of it objects', 'KB', 1, 'lower'),
    column('rss', 'resident', 'KB', 1),
    column('seconds', 'to open all', 's', 1),
  ],
  goals: [{ of: OURS.name, by: LIMIT.name, column: 'used', most: 2.5 }],
  rounds: plan.channelRounds,
  measure,
});
