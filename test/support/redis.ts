import type { Suite } from 'mocha';
import { Engine, type Channels } from '../../src/cluster/engine';
import type { EngineSettings } from '../../src/protocol/engine-address';
import { HAS_REDIS } from '../tooling/servers/redis';
import { until } from '../tooling/until';

/** Tests that need a real engine. A machine without one says what it left out. */
export function describeOnRedis(title: string, tests: (this: Suite) => void): void {
  if (HAS_REDIS) describe(title, tests);
  else process.stdout.write(`  without redis-server, left out: ${title}\n`);
}

export const answers = (engine: Engine): Promise<boolean> =>
  engine.call(1000, 'PING').then(
    () => true,
    () => false,
  );

/** A connection to an engine that answers. */
export async function openEngine(
  settings: EngineSettings,
  channels: Channels = { any: () => undefined },
): Promise<Engine> {
  const engine = await Engine.open(settings, channels);
  await until(() => answers(engine), 'the engine answers');
  return engine;
}
