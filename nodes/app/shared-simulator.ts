import { DeviceCloudError } from '../../src/index';
import type { Simulator } from '../../src/simulator/index';
import { messageOf } from '../common/errors';

export type { Simulator };

/** A use of the simulator that all config nodes of this process share. */
export interface SimulatorUse {
  ready: Promise<Simulator>;
  /** Ends the use; the last one's end stops the simulator. */
  leave(): Promise<void>;
}

let shared: { users: number; ready: Promise<Simulator> } | undefined;

/** Loaded when it is needed: most flows talk to a real service. */
async function start(): Promise<Simulator> {
  try {
    const { BUILT_IN_DEVICES, startSimulator } = await import('../../src/simulator/index.js');
    return await startSimulator({ devices: BUILT_IN_DEVICES });
  } catch (error) {
    throw new DeviceCloudError(
      'UNREACHABLE',
      `Nothing was sent, since the simulator could not be started: ${messageOf(error)}. The next message tries again.`,
    );
  }
}

function startShared(): NonNullable<typeof shared> {
  const use = { users: 0, ready: start() };
  // If it could not start, the next user starts another.
  use.ready.catch(() => {
    if (shared === use) shared = undefined;
  });
  return use;
}

/** Starts the simulator with its first user. */
export function useSimulator(): SimulatorUse {
  const use = (shared ??= startShared());
  use.users++;
  let left = false;
  return {
    ready: use.ready,
    async leave() {
      if (left) return;
      left = true;
      if (--use.users > 0) return;
      if (shared === use) shared = undefined;
      const simulator = await use.ready.catch(() => undefined);
      await simulator?.close();
    },
  };
}
