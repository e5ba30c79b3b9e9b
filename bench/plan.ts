/** How much is done. */
export interface Plan {
  name: 'full' | 'quick' | 'smoke';
  /** Works, and contenders of works, that are left out. */
  without: string[];
  /** Rounds of what takes seconds: each contender once a round, in turn. */
  rounds: number;
  /** Seconds of one measurement, and of the running warm before it: V8 needs more than one to compile a push. */
  seconds: number;
  warm: number;
  /** On how many channels uploads are received. */
  uploadChannels: number[];
  /** Channels held open, and rounds of that, which takes minutes. */
  channels: number;
  channelRounds: number;
  /** Seconds that open channels idle. */
  idle: number;
  /** Devices by which the cost of a message must not grow, and rounds of that. */
  devices: number[];
  deviceRounds: number;
  /** Uploads in whose course the listener's memory must not grow. */
  uptime: number;
}

export const PLANS: Record<Plan['name'], Plan> = {
  full: {
    name: 'full',
    without: [],
    rounds: 5,
    seconds: 3,
    warm: 2,
    uploadChannels: [1, 100],
    channels: 5000,
    channelRounds: 2,
    idle: 60,
    devices: [10, 100, 1000, 5000],
    deviceRounds: 3,
    uptime: 2_000_000,
  },
  // The ratios that two minutes are enough for: growth within so short a time is all noise.
  quick: {
    name: 'quick',
    without: [
      ...['growth-push', 'growth-uploads', 'uptime', 'size', 'channels-wss'],
      ...['channels-core', 'uploads-limit', 'uploads-ours-without-recovery'],
    ],
    rounds: 2,
    seconds: 1,
    warm: 2,
    uploadChannels: [100],
    channels: 300,
    channelRounds: 1,
    idle: 2,
    devices: [10, 100],
    deviceRounds: 1,
    uptime: 300_000,
  },
  // Whether it runs and counts at all.
  smoke: {
    name: 'smoke',
    without: ['push-core', 'uploads-core', 'uploads-floor', 'uploads-ours-without-recovery'],
    rounds: 1,
    seconds: 0.1,
    warm: 0.05,
    uploadChannels: [2],
    channels: 5,
    channelRounds: 1,
    idle: 0.2,
    devices: [2, 4],
    deviceRounds: 1,
    uptime: 1000,
  },
};
