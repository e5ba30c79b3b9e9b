import { setTimeout as sleep } from 'node:timers/promises';
import { readMemory, type Memory } from '../meter';
import type { Plan } from '../plan';
import { column, type Goal, type Job, type Scenario, type Values } from '../scenario';
import { CORE, LIMIT, LIMIT_READING, OURS, OURS_OFF } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

async function measure(job: Job, scheme: 'http' | 'https'): Promise<Values> {
  const { service, plan } = job;
  const receiver = await Receiver.start(job, scheme);
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

/** What the package's own objects may take, with recovery and without it. */
const OBJECTS: Goal[] = [OURS, OURS_OFF].map(({ name }) => ({
  ...{ of: name, by: LIMIT.name, column: 'objects', most: 2.5 },
}));

/** Channels held open, with heartbeats and pings at their defaults. */
function channels(scheme: 'http' | 'https', plan: Plan): Scenario {
  const protocol = scheme === 'http' ? 'ws' : 'wss';
  const most = scheme === 'http' ? 2.5 : 1.35;
  return {
    name: `channels-${protocol}`,
    title: `Memory of a channel, ${plan.channels} channels over ${protocol}`,
    subjects: [LIMIT, LIMIT_READING, CORE, OURS, ...(scheme === 'http' ? [OURS_OFF] : [])],
    columns: [
      column('used', 'memory', 'KB', 1, 'lower'),
      column('objects', 'of it objects', 'KB', 1, 'lower'),
      column('rss', 'resident', 'KB', 1),
      column('seconds', 'to open all', 's', 1),
    ],
    goals: [
      { of: 'ours', by: 'limit', column: 'used', most },
      ...(scheme === 'http' ? OBJECTS : []),
    ],
    rounds: plan.channelRounds,
    measure: (job) => measure(job, scheme),
  };
}

export const channelScenarios = (plan: Plan): Scenario[] => [
  channels('http', plan),
  channels('https', plan),
];
