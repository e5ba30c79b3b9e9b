import type { Plan } from '../plan';
import { CPU, RATE, SERVICE, type Scenario } from '../scenario';
import { CORE, FLOOR, LIMIT, OURS, OURS_OFF, Receiver } from '../subjects/receiver';

/** Blocks of 16 uploads that are on their way on a channel at most. */
const WINDOW = 4;

/** Uploads received as fast as they are read, on a given number of channels. */
const uploads = (channels: number, { rounds }: Plan): Scenario => ({
  name: `uploads-${channels}`,
  title: `Uploads received on ${channels === 1 ? 'one channel' : `${channels} channels`}`,
  subjects: [LIMIT, FLOOR, CORE, OURS, OURS_OFF],
  columns: [CPU, RATE, SERVICE],
  goals: [{ of: 'ours', by: 'floor', column: 'cpu', most: channels === 1 ? 1.6 : 1.3 }],
  rounds,
  async measure(job) {
    const receiver = await Receiver.start(job, 'http');
    await receiver.open(channels);
    await receiver.flood(job.plan.warmUp, WINDOW);
    return job.repeat(() => receiver.flood(job.plan.seconds, WINDOW));
  },
});

export const uploadScenarios = (plan: Plan): Scenario[] =>
  plan.uploadChannels.map((channels) => uploads(channels, plan));
