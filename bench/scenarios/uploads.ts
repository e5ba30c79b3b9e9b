import { SLICED, type Plan } from '../plan';
import { CPU, RATE, SERVICE, type Goal, type Job, type Scenario, type Subject } from '../scenario';
import { HISTORY } from '../service/readings';
import {
  CORE,
  FLOOR,
  LIMIT,
  OURS,
  OURS_BYTES,
  OURS_FLEET,
  OURS_KEPT,
  OURS_OFF,
  OURS_PAIRS,
} from '../subjects/open-channels';
import { Receiver } from '../subjects/receiver';

/** Blocks of 16 uploads that are on their way on a channel at most. */
const WINDOW = 4;

/**
 * Uploads after which a listener reads the history of a device. The flood brings all devices equally far: unless they are
 * staggered, all are read during the measurement, or none.
 */
const READ_AFTER = HISTORY / 2;

/** Seconds over which uploads come one a second from each device: they are few, and their CPU is little. */
const STEADY = 20;

const goal = (of: string, by: string, most: number): Goal => ({ of, by, column: 'cpu', most });

/** Uploads received as fast as they are read, on a given number of channels. */
const uploads = (channels: number, { rounds }: Plan): Scenario => ({
  name: `uploads-${channels}`,
  title: `Uploads received on ${channels === 1 ? 'one channel' : `${channels} channels`}`,
  subjects: [LIMIT, FLOOR, CORE, OURS, OURS_OFF],
  columns: [CPU, RATE, SERVICE],
  goals: [goal(OURS.name, FLOOR.name, channels === 1 ? 1.6 : 1.3)],
  rounds,
  async measure(job) {
    const receiver = await Receiver.start(job, 'http');
    await receiver.open(channels);
    await receiver.flood(job.plan.warmUp, WINDOW);
    return job.repeat(() => receiver.flood(job.plan.seconds, WINDOW));
  },
});

/** A warm receiver of which one device after the other comes to the next reading of its history. */
async function staggered(job: Job, devices: number): Promise<Receiver> {
  const receiver = await Receiver.start(job, 'http');
  await receiver.open(devices);
  await receiver.flood(job.plan.warmUp, WINDOW);
  await receiver.calm();
  await receiver.stagger(READ_AFTER / devices);
  await receiver.calm();
  return receiver;
}

/**
 * Uploads received by a listener, beside a listener that does a little more. It adds so little that one process is less like
 * the next than the one with it is like the one without: so both take turns, in slices.
 */
const uploadsBeside = (
  devices: number,
  { rounds }: Plan,
  { name, what, subject, most }: { name: string; what: string; subject: Subject; most: number },
): Scenario => ({
  name,
  title: `Uploads received on ${devices} channels, ${what}`,
  subjects: [OURS, subject],
  columns: [CPU],
  goals: [goal(subject.name, OURS.name, most)],
  rounds: rounds * 2,
  plan: SLICED,
  async measure(job) {
    const receiver = await staggered(job, devices);
    return job.repeat(() => receiver.flood(job.plan.seconds, WINDOW));
  },
});

const WITH_EVENTS = {
  ...{ name: 'uploads-events', what: 'beside events and latest nodes' },
  ...{ subject: OURS_FLEET, most: 1.1 },
};

/** Positions that survive a restart. */
const KEPT = {
  ...{ name: 'uploads-kept', what: 'with positions in files' },
  ...{ subject: OURS_KEPT, most: 1.05 },
};

/** Decoded by the type of the devices. */
const typed = (subject: Subject, name: string) => ({
  ...{ name: `uploads-${name}`, what: `decoded by a type with ${name}`, subject, most: 1.15 },
});

/** Uploads as devices send them: each device one a second. */
const steadyUploads = (devices: number, { rounds }: Plan): Scenario => ({
  name: 'uploads-steady',
  title: `One upload a second from each of ${devices} devices`,
  subjects: [LIMIT, FLOOR, CORE, OURS],
  columns: [CPU],
  goals: [goal(OURS.name, FLOOR.name, 1.2)],
  rounds,
  async measure(job) {
    const receiver = await staggered(job, devices);
    return receiver.receive(STEADY, devices);
  },
});

export const uploadScenarios = (plan: Plan): Scenario[] => [
  ...plan.uploadChannels.map((channels) => uploads(channels, plan)),
  uploadsBeside(100, plan, WITH_EVENTS),
  uploadsBeside(100, plan, KEPT),
  uploadsBeside(100, plan, typed(OURS_BYTES, 'bytes')),
  uploadsBeside(100, plan, typed(OURS_PAIRS, 'pairs')),
  steadyUploads(100, plan),
];
