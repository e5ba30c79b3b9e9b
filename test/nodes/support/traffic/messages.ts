/** The number of deploys. */
export const ROUNDS = 100;

/** The rounds after which the heap is measured. */
export const MEASURED = [20, 60, 100] as const;

/** Rounds after which the test waits for the channels, which open at 50 a second at first. */
export const WAITING = 5;

/** A device that never answers: a push to it is in flight until its node is closed. */
export const SLOW = '10000003';
/** A device that never uploads: a command that waits for that is closed with its node. */
export const SLEEPY = '10000004';
/** A device that is asked and never replies. */
export const TALKER = '10000005';
export const CHIPIDS = ['10000001', '10000002'] as const;

/** A question of the Node-RED process to the test, which runs the service. */
export type Question = 'is a push in flight?' | 'is every socket closed?';

/** The open resources of the process, counted by kind. */
export type Holding = Readonly<Record<string, number>>;

/** The result of the redeploys. */
export interface Report {
  /** Messages handed to the nodes, and how often `done` was called. */
  sent: number;
  ended: number;
  /** Messages whose `done` was not called exactly once by the time their node had closed. */
  unsettled: number;
  /** How messages ended: `ok`, or the code of the error. */
  ends: Readonly<Record<string, number>>;
  /** Uploads that the listener emitted. */
  emitted: number;
  /** Bytes of heap in use after a full collection, after the measured rounds. */
  heap: number[];
  before: Holding;
  after: Holding;
}

/** A message of the Node-RED process to the test. */
export type FromNodeRed = { question: Question } | { report: Report };
