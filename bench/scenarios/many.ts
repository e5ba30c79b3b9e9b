import type { NodeMessage } from 'node-red';
import { chipids } from '../identity';
import { startMeter } from '../meter';
import { SLICED, type Plan } from '../plan';
import { CPU, RATE, SERVICE, type Job, type Scenario, type Values } from '../scenario';
import { createEnds, registerEnds } from '../subjects/ends';
import { fail, startNodeRed } from '../subjects/node-red';
import { ourPush } from '../subjects/our-flows';
import { AT_ONCE, DEVICES, isOkay } from './push';

/** Pushes to all devices, and waits for all answers. */
type PushToAll = (message: string) => Promise<void>;

async function pusher({ subject, service, packageFolder }: Job): Promise<PushToAll> {
  const ends = createEnds();
  const nodeRed = await startNodeRed(packageFolder, registerEnds(ends));
  const all = chipids(DEVICES);
  if (subject === 'single') {
    await nodeRed.deploy(ourPush(service.addresses.push));
    return (payload) =>
      new Promise((resolve) => {
        let answered = 0;
        let sent = 0;
        const next = (): void => {
          if (sent < DEVICES) ends.send({ chipid: all[sent++], payload } as NodeMessage);
        };
        ends.onMessage = (msg) => {
          if (!isOkay(msg)) fail('A push was not answered with OK.');
          if (++answered === DEVICES) resolve();
          else next();
        };
        for (let each = 0; each < AT_ONCE; each++) next();
      });
  }
  const several = { many: true, limit: String(DEVICES), atOnce: String(AT_ONCE) };
  await nodeRed.deploy(ourPush(service.addresses.push, several));
  return (payload) =>
    new Promise((resolve) => {
      ends.onMessage = (msg) => {
        const results = msg.payload as { payload?: unknown }[];
        if (results.length !== DEVICES || !results.every(isOkay)) fail('Not all pushes were OK.');
        resolve();
      };
      ends.send({ chipid: all, payload } as NodeMessage);
    });
}

/** Pushes until the time is over. @returns how many pushes were made */
async function pushFor(seconds: number, push: PushToAll): Promise<number> {
  const until = performance.now() + seconds * 1000;
  let count = 0;
  for (; performance.now() < until; count += DEVICES) await push(`set level ${count}`);
  return count;
}

async function measure(job: Job): Promise<Values> {
  const push = await pusher(job);
  await pushFor(job.plan.warmUp, push);
  return job.repeat(() => measurePushes(job, push));
}

async function measurePushes(job: Job, push: PushToAll): Promise<Values> {
  const before = await job.service.state();
  const measured = startMeter();
  const pushes = await pushFor(job.plan.seconds, push);
  const sample = measured(pushes);
  const after = await job.service.state();
  const came = after.pushes - before.pushes;
  if (came !== pushes) throw new Error(`${came} pushes came, not ${pushes}.`);
  return { ...sample, service: (after.cpu - before.cpu) / pushes };
}

/** A command to many devices. */
export const many = ({ rounds }: Plan): Scenario => ({
  name: 'push-many',
  title: `Push to ${DEVICES} devices, ${AT_ONCE} at once`,
  subjects: [
    { name: 'single', label: `${DEVICES} messages` },
    { name: 'ours', label: 'one message' },
  ],
  columns: [CPU, RATE, SERVICE],
  goals: [{ of: 'ours', by: 'single', column: 'cpu', most: 1.1 }],
  rounds,
  plan: SLICED,
  measure,
});
