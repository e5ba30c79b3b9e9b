import { setTimeout as sleep } from 'node:timers/promises';
import type { Plan } from '../plan';
import { column, type Scenario } from '../scenario';
import { OURS, RECONNECTING } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

/** All channels end at once, and reconnect to a service that takes them. */
function restart(scheme: 'http' | 'https', plan: Plan): Scenario {
  const protocol = scheme === 'http' ? 'ws' : 'wss';
  return {
    name: `restart-${protocol}`,
    title: `All of ${plan.channels} channels end at once, over ${protocol}`,
    subjects: [RECONNECTING, OURS],
    columns: [
      column('connected', 'until all are open again', 's', 1, 'lower'),
      column('recovered', 'until all histories are read', 's', 1, 'lower'),
      column('most', 'most connects in a second', '', 0),
      column('mostReadings', 'most readings in a second', '', 0),
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

/** Channels of a service that takes few: as many as come back in half a minute. */
const FEW = 600;
/** Milliseconds after which a limiter begins anew. */
const FORGOTTEN = 12_000;
const PER_SECOND = 20;

/** The same, but the service takes few connects, and few readings, in each second: it refuses the others with 503. */
const limited = (plan: Plan): Scenario => ({
  name: 'restart-limited',
  title: `All of ${FEW} channels end at once, and the service takes ${PER_SECOND} a second`,
  subjects: [OURS],
  columns: [
    column('connected', 'until all are open again', 's', 1),
    column('recovered', 'until all histories are read', 's', 1),
    column('most', 'most connects in a second', '', 0, 'lower'),
    column('mostReadings', 'most readings in a second', '', 0),
  ],
  goals: [
    { of: 'ours', column: 'most', most: 2 * PER_SECOND },
    { of: 'ours', column: 'mostReadings', most: 2 * PER_SECOND },
  ],
  rounds: plan.channelRounds,
  async measure(job) {
    const { service } = job;
    const receiver = await Receiver.start(job, 'http');
    const { histories } = await service.state();
    await receiver.open(FEW);
    await service.historiesRead(histories + FEW);
    // What the first time has shown is forgotten.
    await sleep(FORGOTTEN);
    await service.throttle(PER_SECOND);
    const values = await receiver.restart(FEW);
    await service.throttle();
    return values;
  },
});

export const restartScenarios = (plan: Plan): Scenario[] => [
  restart('http', plan),
  restart('https', plan),
  limited(plan),
];
