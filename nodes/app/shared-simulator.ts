import type { Simulator } from '../../src/simulator';

/** A use of the simulator that all config nodes of this process share. */
export interface SimulatorUse {
  ready: Promise<Simulator>;
  /** Ends the use; the last one's end stops the simulator. */
  leave(): Promise<void>;
}

let shared: { users: number; ready: Promise<Simulator> } | undefined;

/** Loaded when it is needed: most flows talk to a real service. */
async function start(): Promise<Simulator> {
  const { startSimulator } = await import('../../src/simulator/index.js');
  return startSimulator();
}

/** Starts the simulator with its first user. */
export function useSimulator(): SimulatorUse {
  const use = (shared ??= { users: 0, ready: start() });
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
