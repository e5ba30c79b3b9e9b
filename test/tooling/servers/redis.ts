import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keep, type Child } from '../process';
import { removeFolder, temporaryFolder } from '../temporary-folder';
import { freePort } from './ports';

/** Whether this machine has Redis, or Valkey under its name. */
export const HAS_REDIS = spawnSync('redis-server', ['--version']).status === 0;

/** A server of this machine, on a free port of loopback and in a folder of its own. */
export interface RedisProcess {
  readonly port: number;
  readonly url: string;
  readonly child: Child;
  /** Stops it where it is, as a machine that hangs does; `cont` lets it go on. */
  stop(): void;
  cont(): void;
  end(signal?: NodeJS.Signals): Promise<void>;
}

/** Ports that are tried: another program may take one first, or that of a Redis Cluster's bus, which is 10,000 higher. */
const TRIES = 5;

/** @param port to start one again where one was @param config further lines of its configuration */
export async function startRedis({
  port,
  config = [],
}: { port?: number; config?: readonly string[] } = {}): Promise<RedisProcess> {
  for (let tries = 1; ; tries++) {
    try {
      return await startAt(port ?? (await freePort()), config);
    } catch (error) {
      if (port !== undefined || tries === TRIES) throw error;
    }
  }
}

async function startAt(port: number, config: readonly string[]): Promise<RedisProcess> {
  const folder = temporaryFolder('redis');
  const file = join(folder, 'redis.conf');
  const lines = ['save ""', 'appendonly no', `port ${port}`, 'bind 127.0.0.1', `dir ${folder}`];
  writeFileSync(file, [...lines, ...config, ''].join('\n'));
  const child = keep(
    'redis-server',
    spawn('redis-server', [file], { stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  void child.ended.then(() => removeFolder(folder));
  await child.logged(/Ready to accept connections/);
  const signal = (name: NodeJS.Signals): void => void child.process.kill(name);
  return {
    ...{ port, child, url: `redis://127.0.0.1:${port}` },
    stop: () => signal('SIGSTOP'),
    cont: () => signal('SIGCONT'),
    end: (name = 'SIGKILL') => child.end(name),
  };
}
