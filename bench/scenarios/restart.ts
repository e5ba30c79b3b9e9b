import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../plan';
import { column, type Scenario } from '../scenario';
import { OURS, OURS_OFF, Receiver, RECONNECTING } from '../subjects/receiver';

/** All channels end at once, and reconnect to a service that takes them. */
function restart(scheme: 'http' | 'https', plan: Plan): Scenario {
  const protocol = scheme === 'http' ? 'ws' : 'wss';
  return {
    name: `restart-${protocol}`,
    title: `All of ${plan.channels} channels end at once, over ${protocol}`,
    subjects: [RECONNECTING, OURS, OURS_OFF],
    columns: [
      column('connected', 'until all are open again', 's', 1, 'lower'),
      column('recovered', 'until all histories are read', 's', 1, 'lower'),
      column('most', 'most in a second', '', 0),
    ],
    goals: [
      { of: 'ours', by: RECONNECTING.name, column: 'connected', most: 1.3 },
      ...(scheme === 'http'
        ? [{ of: 'ours', by: RECONNECTING.name, column: 'recovered', most: 1, enough: 20 }]
        : []),
    ],
    rounds: plan.channelRounds,
    async measure(job) {
      const receiver = await Receiver.start(job, scheme);
      await receiver.open(plan.channels);
      // What the first time has shown is forgotten, and each connection has lasted for a while.
      await sleep(plan.idle * 1000);
      return receiver.restart(plan.channels);
    },
  };
}

export const restartScenarios = (plan: Plan): Scenario[] => [
  restart('http', plan),
  restart('https', plan),
];
