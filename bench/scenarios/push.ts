import { chipidOf } from '../identity';
import { startMeter, type Sample } from '../meter';
import { SLICED, type Plan } from '../plan';
import { CPU, RATE, SERVICE, type Job, type Scenario, type Values } from '../scenario';
import { barePush } from '../subjects/bare-push';
import { corePush } from '../subjects/core-flows';
import { createEnds, endNodes, placed, registerEnds } from '../subjects/ends';
import { fail, startNodeRed } from '../subjects/node-red';
import { ourPush } from '../subjects/our-flows';

const AT_ONCE = 64;
const DEVICES = 1000;

/** Starts a push, and calls `done` when it was answered as it should be. */
type Push = (chipid: string, message: string, done: () => void) => void;

/** Pushes to one device after the other, 64 at once, until the time is over and all were answered. */
export function pushFor(seconds: number, push: Push): Promise<Sample & { pushes: number }> {
  return new Promise((resolve) => {
    const measured = startMeter();
    const until = performance.now() + seconds * 1000;
    let pushes = 0;
    let running = AT_ONCE;
    const next = (): void => {
      if (performance.now() < until) {
        push(chipidOf(pushes % DEVICES), `set level ${pushes}`, next);
        pushes++;
      } else if (--running === 0) resolve({ ...measured(pushes), pushes });
    };
    for (let each = 0; each < AT_ONCE; each++) next();
  });
}

const isOkay = ({ payload }: { payload?: unknown }): boolean =>
  (payload as { msg?: unknown } | undefined)?.msg === 'OK';

async function pusher({ subject, service, packageFolder }: Job): Promise<Push> {
  const { push: baseUrl } = service.addresses;
  const bare = await barePush(baseUrl, AT_ONCE);
  if (subject === 'limit') {
    return (chipid, message, done) =>
      void bare(chipid, message).then(done, (error: unknown) => fail(String(error)));
  }
  const ends = createEnds();
  const nodeRed = await startNodeRed(packageFolder, registerEnds(ends));
  if (subject === 'floor') {
    ends.work = async (msg) => {
      await bare((msg as { chipid?: string }).chipid ?? '', msg.payload as string);
      msg.payload = { msg: 'OK' };
    };
    const floor = placed('floor', 'bench-floor', {}, 'sink');
    await nodeRed.deploy([...endNodes('floor'), floor]);
  } else await nodeRed.deploy(subject === 'core' ? corePush(baseUrl) : ourPush(baseUrl));
  return (chipid, message, done) => {
    // Whichever push is answered makes room for the next one.
    ends.onMessage = (msg) => (isOkay(msg) ? done() : fail('A push was not answered with OK.'));
    ends.send({ chipid, payload: message });
  };
}

async function measure(job: Job): Promise<Values> {
  const push = await pusher(job);
  await pushFor(job.plan.warmUp, push);
  return job.repeat(() => measurePushes(job, push));
}

async function measurePushes(job: Job, push: Push): Promise<Values> {
  const before = await job.service.state();
  const { pushes, ...sample } = await pushFor(job.plan.seconds, push);
  const after = await job.service.state();
  const came = after.pushes - before.pushes;
  if (came !== pushes) throw new Error(`${came} pushes came, not ${pushes}.`);
  return { ...sample, service: (after.cpu - before.cpu) / pushes };
}

/** Commands to many devices. */
export const push = ({ rounds }: Plan): Scenario => ({
  name: 'push',
  title: `Push, ${AT_ONCE} at once over ${DEVICES} devices`,
  subjects: [
    { name: 'limit', label: 'undici Pool, signed by hand' },
    { name: 'floor', label: 'the same in a bare node' },
    { name: 'core', label: 'core: function (signs) → http request' },
    { name: 'ours', label: 'push node' },
  ],
  columns: [CPU, { ...RATE, better: 'higher' }, SERVICE],
  goals: [
    { of: 'ours', by: 'floor', column: 'rate', least: 0.8 },
    { of: 'ours', by: 'core', column: 'rate', least: 8 },
  ],
  rounds,
  plan: SLICED,
  measure,
});
