/** How much is measured. */
export interface Plan {
  /** Rounds: each subject runs once a round, in turn. */
  rounds: number;
  /** Seconds of one measurement, and of the warm-up before it: V8 needs more than one to compile a push. */
  seconds: number;
  warmUp: number;
  /** Measurements that a process repeats, in turn with those of the others. */
  slices: number;
  /** Numbers of channels on which uploads are received. */
  uploadChannels: number[];
  /** Channels held open for the memory of a channel, and rounds of that, which takes minutes. */
  channels: number;
  channelRounds: number;
  /** Seconds that open channels idle before their memory is read. */
  idle: number;
}

/** The channels idle for longer than the 30 s between two pings. */
export const FULL: Plan = {
  rounds: 5,
  seconds: 3,
  warmUp: 2,
  slices: 1,
  uploadChannels: [1, 100],
  channels: 5000,
  channelRounds: 2,
  idle: 35,
};

/** A shorter run, for a first look. */
export const QUICK: Plan = {
  ...FULL,
  seconds: 1,
  channels: 300,
  channelRounds: 3,
  idle: 2,
};

/** Slices so short that a disturbance of the machine meets all subjects, which take turns. */
export const SLICED = { warmUp: 4, seconds: 0.25, slices: 12 } satisfies Partial<Plan>;

/** A comparison of two versions: enough pairs of processes for a verdict, as one process is never quite as quick as the next. */
export const PAIRS: Plan = {
  ...QUICK,
  ...SLICED,
  rounds: 8,
  channelRounds: 8,
};
