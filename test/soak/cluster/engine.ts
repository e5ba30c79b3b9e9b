import { mkdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { startRedis, startSentinel, type RedisProcess } from '../../../tooling/servers/redis';
import { until } from '../../../tooling/until';
import { redisCli } from '../../src/cluster/redis-cli';
import { startFront, type Front } from '../../../tooling/servers/front';
import { SENTINELS_VARIABLE, URL_VARIABLE } from './flow';

/** What the engine has needed since its last start. */
export interface EngineUsage {
  /** Bytes, at most. */
  memory: number;
  commandsPerSecond: number;
}

/** What the processes share, and what can go wrong with it. */
export interface Engine {
  /** A process's way to it: variables, and a relay of its own if it has one. */
  way(): Promise<{ env: NodeJS.ProcessEnv; front?: Front }>;
  /** Kills it, and starts it again with its content after some milliseconds. */
  restart(ms: number): Promise<void>;
  /** Takes its content away: at once, or with a restart. */
  wipe(how: 'flush' | 'restart'): Promise<void>;
  /** Kills the primary; another server takes its place, and the killed one comes back as a replica. */
  failOver(ms: number): Promise<void>;
  /** How many uploads are in the streams of the queue. */
  queued(): Promise<number>;
  usage(): Promise<EngineUsage>;
  close(): Promise<void>;
}

/** As docs/use/cluster.md recommends it. */
const KEPT = ['appendonly yes', 'appendfsync everysec', 'maxmemory-policy noeviction'];

const without = (what: string) => () => Promise.reject(new Error(`This engine has no ${what}.`));

/** The length of all streams. */
async function queuedIn(port: number): Promise<number> {
  const keys = await redisCli(port, 'KEYS', '*}:queue:*');
  const lengths = keys
    .split('\n')
    .filter(Boolean)
    .map((key) => redisCli(port, 'XLEN', key));
  return (await Promise.all(lengths)).reduce((sum, length) => sum + Number(length), 0);
}

async function usageOf(port: number): Promise<EngineUsage> {
  const info = await redisCli(port, 'INFO');
  const field = (name: string): number =>
    Number(new RegExp(`^${name}:(\\d+)`, 'm').exec(info)?.[1]);
  return {
    memory: field('used_memory_peak'),
    commandsPerSecond: field('total_commands_processed') / Math.max(1, field('uptime_in_seconds')),
  };
}

/** A single server, behind a relay for each process. */
export async function startSingle(folder: string): Promise<Engine> {
  mkdirSync(folder);
  const start = (port?: number): Promise<RedisProcess> =>
    startRedis({ folder, config: KEPT, ...(port !== undefined && { port }) });
  let redis = await start();
  const { port } = redis;
  const fronts: Front[] = [];
  return {
    async way() {
      const front = await startFront(port);
      fronts.push(front);
      return { env: { [URL_VARIABLE]: `redis://127.0.0.1:${front.port}` }, front };
    },
    async restart(ms) {
      await redis.end('SIGKILL');
      await sleep(ms);
      redis = await start(port);
    },
    async wipe(how) {
      if (how === 'flush') return void (await redisCli(port, 'FLUSHALL'));
      await redis.end('SIGKILL');
      // In a folder of its own, which is empty.
      redis = await startRedis({ port });
    },
    failOver: without('replicas'),
    queued: () => queuedIn(port),
    usage: () => usageOf(port),
    async close() {
      await Promise.all(fronts.map((front) => front.close()));
      await redis.end('SIGKILL');
    },
  };
}

const SERVERS = 3;

/** The primary as a Sentinel names it. */
async function primaryOf(sentinel: RedisProcess): Promise<number> {
  const answer = await redisCli(sentinel.port, 'SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'primary');
  return Number(answer.split('\n')[1]);
}

/** A primary with two replicas, and three Sentinels. */
export async function startSentinels(folder: string): Promise<Engine> {
  mkdirSync(folder);
  const servers = new Map<number, RedisProcess>();
  const start = async (primary?: number, port?: number): Promise<number> => {
    const replica = primary === undefined ? [] : [`replicaof 127.0.0.1 ${primary}`];
    const config = [...KEPT, ...replica];
    const server = await startRedis({ config, ...(port !== undefined && { port }) });
    servers.set(server.port, server);
    return server.port;
  };
  const first = await start();
  while (servers.size < SERVERS) await start(first);
  const sentinels = await Promise.all([1, 2, 3].map(() => startSentinel(first)));
  const [sentinel] = sentinels;
  if (!sentinel) throw new Error('There is no Sentinel.');
  for (const { child } of sentinels) {
    for (const port of servers.keys()) if (port !== first) await child.logged(slave(port));
  }
  const addresses = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  return {
    way: () => Promise.resolve({ env: { [SENTINELS_VARIABLE]: addresses } }),
    restart: without('restart'),
    wipe: without('wipe'),
    async failOver(ms) {
      const primary = await primaryOf(sentinel);
      await servers.get(primary)?.end('SIGKILL');
      const isReplaced = async (): Promise<boolean> => (await primaryOf(sentinel)) !== primary;
      await until(isReplaced, 'another server is the primary');
      await sleep(ms);
      await start(await primaryOf(sentinel), primary);
    },
    queued: async () => queuedIn(await primaryOf(sentinel)),
    usage: async () => usageOf(await primaryOf(sentinel)),
    async close() {
      await Promise.all([...sentinels, ...servers.values()].map((each) => each.end('SIGKILL')));
    },
  };
}

const slave = (port: number): RegExp => new RegExp(`\\+slave slave 127\\.0\\.0\\.1:${port}`);
