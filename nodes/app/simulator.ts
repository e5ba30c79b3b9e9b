import { DeviceCloudError, MEMORY, Store } from '../../src/index';
import type { Simulator } from '../../src/simulator/index';
import { messageOf } from '../common/errors';

/** A use of the simulator that all config nodes of a Node-RED share. */
export interface SimulatorUse {
  ready: Promise<Simulator>;
  /** Ends the use; the last one's end stops the simulator. */
  leave(): Promise<void>;
}

interface Running {
  users: number;
  readonly ready: Promise<Simulator>;
}

/** The simulator of a Node-RED. A plain object, so that Node-RED loads nothing for it at its start. */
export interface SharedSimulator {
  /** While it has users. */
  running?: Running | undefined;
  /** The one before, once it is closed: a deploy of all nodes ends its last use, and the next one goes on with its history. */
  before?: Promise<Simulator | undefined>;
  memory?: Store;
}

/** What belongs to the uploads of the simulator, and is forgotten with them. */
export const memoryOf = (shared: SharedSimulator): Store => (shared.memory ??= new Store(MEMORY));

/** How it is called. */
export const optionsOf = (simulator: Simulator) => {
  const { baseUrl, appid, appkey, serverKey, serverPassword } = simulator;
  return { baseUrl, appid, appkey, serverKey, serverPassword, proxy: false } as const;
};

/** Loaded when it is needed: most flows talk to a real service. */
async function start(shared: SharedSimulator): Promise<Simulator> {
  try {
    const { BUILT_IN_DEVICES, startSimulator } = await import('../../src/simulator/index.js');
    return await startSimulator({ devices: BUILT_IN_DEVICES }, await shared.before);
  } catch (error) {
    throw new DeviceCloudError(
      'UNREACHABLE',
      `Nothing was sent, since the simulator could not be started: ${messageOf(error)}. The next message tries again.`,
    );
  }
}

function run(shared: SharedSimulator): Running {
  const running: Running = { users: 0, ready: start(shared) };
  // If it could not start, the next user starts another.
  running.ready.catch(() => {
    if (shared.running === running) shared.running = undefined;
  });
  return running;
}

/** Uses the simulator for a while. */
export async function withSimulator<T>(
  shared: SharedSimulator,
  use: (simulator: Simulator) => Promise<T>,
): Promise<T> {
  const used = useSimulator(shared);
  try {
    return await use(await used.ready);
  } finally {
    await used.leave();
  }
}

/** Starts the simulator with its first user. */
export function useSimulator(shared: SharedSimulator): SimulatorUse {
  const running = (shared.running ??= run(shared));
  running.users++;
  let left = false;
  return {
    ready: running.ready,
    async leave() {
      if (left) return;
      left = true;
      if (--running.users > 0) return;
      if (shared.running === running) shared.running = undefined;
      const { before } = shared;
      shared.before = running.ready.then(
        (simulator) => simulator.close().then(() => simulator),
        () => before,
      );
      await shared.before;
    },
  };
}
