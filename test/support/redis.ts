import type { Suite } from 'mocha';
import { HAS_REDIS } from '../tooling/servers/redis';

/** Tests that need a real engine. A machine without one says what it left out. */
export function describeOnRedis(title: string, tests: (this: Suite) => void): void {
  if (HAS_REDIS) describe(title, tests);
  else process.stdout.write(`  without redis-server, left out: ${title}\n`);
}
