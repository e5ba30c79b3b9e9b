import { Session } from 'node:inspector/promises';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Takes a CPU profile of this process, of what is measured alone: not of its start. */
export function createProfiler() {
  const session = new Session();
  return {
    async startProfile(): Promise<void> {
      session.connect();
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: 100 });
      await session.post('Profiler.start');
    },
    /** @param file for the developer tools of a browser, as of `node --cpu-prof` */
    async stopProfile(file: string): Promise<void> {
      const { profile } = await session.post('Profiler.stop');
      session.disconnect();
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, JSON.stringify(profile));
    },
  };
}

export type Profiler = ReturnType<typeof createProfiler>;
