import type { Plan } from '../plan';
import { CPU, RATE, SERVICE, type Goal, type Scenario } from '../scenario';
import { CORE, FLOOR, LIMIT, OURS, OURS_KEPT, OURS_OFF } from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

/** Blocks of 16 uploads that are on their way on a channel at most. */
const WINDOW = 4;

const goal = (of: string, by: string, most: number): Goal => ({ of, by, column: 'cpu', most });

/** Uploads received as fast as they are read, on a given number of channels. */
const uploads = (channels: number, { rounds }: Plan): Scenario => ({
  name: `uploads-${channels}`,
  title: `Uploads received on ${channels === 1 ? 'one channel' : `${channels} channels`}`,
  subjects: [LIMIT, FLOOR, CORE, OURS, OURS_OFF, OURS_KEPT],
  columns: [CPU, RATE, SERVICE],
  goals:
    channels === 1
      ? []
      : [
          goal(OURS_OFF.name, FLOOR.name, 1.3),
          goal(OURS.name, FLOOR.name, 1.4),
          goal(OURS.name, CORE.name, 0.7),
        ],
  rounds,
  async measure(job) {
    const receiver = await Receiver.start(job);
    await receiver.open(channels);
    await receiver.flood(job.plan.warmUp, WINDOW);
    return job.repeat(() => receiver.flood(job.plan.seconds, WINDOW));
  },
});

export const uploadScenarios = (plan: Plan): Scenario[] =>
  plan.uploadChannels.map((channels) => uploads(channels, plan));
