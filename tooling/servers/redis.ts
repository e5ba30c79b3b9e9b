import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keep, type Child } from '../process';
import { removeFolder, temporaryFolder } from '../temporary-folder';
import { freePort } from './ports';

/** What answers to the name of `redis-server`, which may be a link to Valkey. */
export const ENGINE = /valkey/i.test(String(spawnSync('redis-server', ['--version']).stdout))
  ? 'Valkey'
  : 'Redis';

/** A server or a Sentinel of this machine, on a free port of loopback and in a folder of its own. */
export interface RedisProcess {
  readonly port: number;
  readonly child: Child;
  /** Stops it where it is, as a machine that hangs does; `cont` lets it go on. */
  stop(): void;
  cont(): void;
  end(signal?: NodeJS.Signals): Promise<void>;
}

interface StartOptions {
  program?: 'redis-server' | 'valkey-server' | undefined;
  /** Further arguments. */
  args?: readonly string[];
  /** A folder that its files are kept in; default: one that is removed at its end. */
  kept?: string | undefined;
}

async function start(
  port: number,
  config: readonly string[],
  { program = 'redis-server', args = [], kept }: StartOptions,
): Promise<RedisProcess> {
  const folder = kept ?? temporaryFolder('redis');
  const file = join(folder, 'redis.conf');
  const lines = [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...config];
  writeFileSync(file, `${lines.join('\n')}\n`);
  const child = keep(
    program,
    spawn(program, [file, ...args], { stdio: ['ignore', 'pipe', 'pipe'] }),
  );
  if (kept === undefined) void child.ended.then(() => removeFolder(folder));
  await child.logged(/Ready to accept connections|Sentinel ID is/);
  const signal = (name: NodeJS.Signals): void => void child.process.kill(name);
  return {
    ...{ port, child },
    stop: () => signal('SIGSTOP'),
    cont: () => signal('SIGCONT'),
    end: (name = 'SIGKILL') => child.end(name),
  };
}

interface RedisOptions {
  /** To start one again where one was. */
  port?: number;
  /** Further lines of its configuration. */
  config?: readonly string[];
  /** A folder that its files are kept in. */
  folder?: string;
  /** Default: `redis-server`. */
  program?: 'redis-server' | 'valkey-server';
}

export async function startRedis(options: RedisOptions = {}): Promise<RedisProcess> {
  const { port = await freePort(), config = [], folder: kept, program } = options;
  return start(port, ['save ""', 'appendonly no', ...config], { program, kept });
}

/**
 * A Sentinel that watches the primary on a port, under the name `primary`, and needs another one to agree.
 * @param config further lines of its configuration
 */
export async function startSentinel(
  primary: number,
  config: readonly string[] = [],
): Promise<RedisProcess> {
  const port = await freePort();
  const lines = [
    `sentinel monitor primary 127.0.0.1 ${primary} 2`,
    'sentinel down-after-milliseconds primary 500',
    'sentinel failover-timeout primary 2000',
    ...config,
  ];
  // Not `redis-sentinel`, another name of the same program, which not every machine with a server has.
  return start(port, lines, { args: ['--sentinel'] });
}
