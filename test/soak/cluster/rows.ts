import { seconds } from '../../../tooling/table';
import { atMost, type Goal } from './result';
import { PROCESSES, type Measured, type Row } from './row';
import { percentile } from './takeover';
import {
  again,
  cut,
  cutForLong,
  failOver,
  kill,
  pause,
  quiet,
  restartEngine,
  terminate,
  toEngine,
  wipeEngine,
} from './trouble';

const inTime = (name: string, ms: number, limit: number): Goal => ({
  name,
  measured: seconds(ms),
  limit: `≤ ${limit} s`,
  isReached: ms <= limit * 1000,
});

const doubled = (measured: Measured, limit: number): Goal =>
  atMost('doubled', measured.doubled, limit);

const longest = ({ takeovers }: Measured): number => takeovers.times.at(-1) ?? 0;
const p95 = ({ takeovers }: Measured): number => percentile(takeovers.times, 0.95);

const takenOver = (measured: Measured, most: number, p95Limit?: number): Goal[] => [
  ...(p95Limit === undefined ? [] : [inTime('takeover, p95', p95(measured), p95Limit)]),
  inTime('takeover, longest', longest(measured), most),
  atMost('not taken over', measured.takeovers.missing, 0),
];

const reopened = ({ reopened }: Measured): Goal => atMost('channels reopened', reopened, 0);

const usual = {
  devices: 300,
  rate: 100,
  extra: 'none',
  engine: 'url',
} as const satisfies Partial<Row>;

/** Milliseconds between two troubles. */
const OFTEN = 20_000;
const SELDOM = 30_000;
const LONG_CUT = 110_000;

export const ROWS: readonly Row[] = [
  {
    ...{ name: 'kill', title: 'a process killed every 20 s', ...usual, minutes: 5 },
    trouble: again(OFTEN, kill),
    goals: (measured) => [doubled(measured, 2 * measured.troubles), ...takenOver(measured, 9, 7)],
  },
  {
    ...{ name: 'stop', title: 'a process stopped for 10 s (SIGSTOP) every 20 s', ...usual },
    minutes: 5,
    trouble: again(OFTEN, pause),
    goals: (measured) => [doubled(measured, 2 * measured.troubles), ...takenOver(measured, 9, 7)],
  },
  {
    ...{ name: 'term', title: 'a process ended (SIGTERM) every 20 s', ...usual, minutes: 5 },
    trouble: again(OFTEN, terminate),
    goals: (measured) => [doubled(measured, 0), ...takenOver(measured, 3)],
  },
  {
    ...{ name: 'cut', title: 'a process cut from Redis for 10 s, not from the service' },
    ...{ ...usual, minutes: 1.75 },
    trouble: again(SELDOM, cut),
    goals: (measured) => [doubled(measured, measured.inWindow), ...takenOver(measured, 9)],
  },
  {
    ...{ name: 'cut-replace' },
    title:
      'a process cut from Redis for 90 s, from a service that closes the older of two channels',
    ...{ ...usual, replace: true, minutes: 2.25 },
    trouble: again(LONG_CUT, cutForLong),
    goals: (measured) => [
      doubled(measured, measured.inWindow),
      // A third of the devices moves to the others, and back.
      atMost('channels opened', measured.reopened, Math.ceil((2.2 * usual.devices) / PROCESSES)),
      ...takenOver(measured, 9),
    ],
  },
  {
    ...{ name: 'redis-killed', title: 'Redis killed for 10 s', ...usual, minutes: 1.75 },
    trouble: toEngine(SELDOM, restartEngine),
    goals: (measured) => [doubled(measured, 0), reopened(measured)],
  },
  {
    ...{ name: 'redis-wiped', title: 'Redis wiped', ...usual, minutes: 1.25 },
    trouble: toEngine(OFTEN, wipeEngine),
    goals: (measured) => [doubled(measured, 0), reopened(measured)],
  },
  {
    ...{ name: 'sentinel', title: 'the primary killed, a replica takes its place (Sentinel)' },
    ...{ ...usual, engine: 'sentinels', minutes: 1.75 },
    trouble: toEngine(SELDOM, failOver),
    goals: (measured) => [doubled(measured, 5), inTime('longest delay', measured.longestDelay, 10)],
  },
  {
    ...{ name: 'queue', title: 'queue: processes killed and stopped by turns every 20 s' },
    ...{ ...usual, extra: 'queue', minutes: 2 },
    trouble: again(OFTEN, (scene, index) => (index % 2 === 0 ? kill : pause)(scene, index)),
    // At most 16 jobs are in flight in a process.
    goals: (measured) => [
      doubled(measured, 16 * measured.troubles),
      atMost('left in the queue', measured.queued, 0),
    ],
  },
  {
    ...{ name: 'devices-5000', title: '5,000 devices, one process of three killed' },
    ...{ ...usual, devices: 5000, rate: 200, minutes: 1 },
    trouble: again(50_000, kill),
    goals: (measured) => [doubled(measured, 2), ...takenOver(measured, 10, 8.5)],
  },
  {
    ...{ name: 'commands', title: 'pushes and requests to the same devices from each process' },
    ...{ ...usual, devices: 30, rate: 20, extra: 'commands', minutes: 1 },
    trouble: quiet,
    goals: (measured) => [
      doubled(measured, 0),
      atMost(`overlaps of ${measured.atOnce.calls} commands`, measured.atOnce.overlaps, 0),
      atMost('calls of a device at once', measured.atOnce.most, 1),
      atMost('channels of a device at once', measured.atOnce.channels, 1),
      atMost('settled not once, or acted twice', measured.fleet.wrong.length, 0),
    ],
  },
];
