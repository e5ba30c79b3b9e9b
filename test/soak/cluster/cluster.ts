import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { makeUserDir } from '../../tooling/node-red/user-dir';
import { startNodeRed, type NodeRedProcess } from '../../tooling/node-red/process';
import { freePort } from '../../tooling/servers/ports';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { number, seconds, table } from '../../tooling/table';
import { until } from '../../tooling/until';
import { flows } from './flow';
import { judge, type Sent } from './judge';

/*
 * Three Node-REDs that share devices on one Redis, and one fault after another: `npm run soak:cluster -- --devices 600 --rate 100`.
 * At the end it prints, for each fault, what was lost, doubled or out of order, and for how long uploads were late.
 */

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '600' },
    rate: { type: 'string', default: '100' },
    only: { type: 'string' },
  },
});
const DEVICES = Array.from({ length: Number(values.devices) }, (_, at) => String(10_000_001 + at));
const PROCESSES = 3;

/** Milliseconds that a fault is given until all follows. */
const SETTLE = 15_000;

const folder = mkdtempSync(join(tmpdir(), 'device-cloud-cluster-'));
const journal = join(folder, 'journal');

/** A way to Redis that can be cut. */
async function startProxy(port: number): Promise<{ port: number; cut: (isCut: boolean) => void }> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer((socket) => {
    if (isCut) {
      socket.destroy();
      return;
    }
    const far = connect(port, '127.0.0.1');
    for (const each of [socket, far]) {
      sockets.add(each);
      each.on('error', () => undefined);
      each.on('close', () => {
        sockets.delete(each);
        (each === socket ? far : socket).destroy();
      });
    }
    socket.pipe(far).pipe(socket);
  });
  const own = await freePort();
  server.listen(own, '127.0.0.1');
  server.unref();
  return {
    port: own,
    cut: (cut) => {
      isCut = cut;
      if (cut) for (const socket of sockets) socket.destroy();
    },
  };
}

class Cluster {
  readonly running: (NodeRedProcess | undefined)[] = [];
  readonly sent: Sent[] = [];
  readonly #numbers = new Map<string, number>();
  #uploads: NodeJS.Timeout | undefined;
  fault = 'none';

  constructor(
    readonly simulator: Simulator,
    public redis: RedisProcess,
    readonly proxy: { port: number; cut: (isCut: boolean) => void },
    readonly config: readonly string[],
  ) {}

  async start(at: number): Promise<void> {
    const userDir = join(folder, `user-${at}`);
    const port = at === 0 ? this.proxy.port : this.redis.port;
    makeUserDir(userDir);
    this.#write(userDir, `redis://127.0.0.1:${port}`);
    await this.again(at);
  }

  async again(at: number): Promise<void> {
    const userDir = join(folder, `user-${at}`);
    const settings = { functionExternalModules: true };
    this.running[at] = await startNodeRed({ userDir, settings });
  }

  signal(at: number, signal: NodeJS.Signals): void {
    const pid = this.running[at]?.pid();
    if (pid !== undefined) process.kill(pid, signal);
  }

  async end(at: number, signal: NodeJS.Signals): Promise<void> {
    const red = this.running[at];
    this.signal(at, signal);
    if (red) await until(() => red.pid() === undefined, 'it has ended');
  }

  async restartRedis(): Promise<void> {
    this.redis = await startRedis({ port: this.redis.port, config: this.config });
  }

  /** Uploads from devices in turn, each with a number. */
  begin(): void {
    let at = 0;
    this.#uploads = setInterval(
      () => {
        const chipid = DEVICES[at++ % DEVICES.length]!;
        const count = (this.#numbers.get(chipid) ?? 0) + 1;
        this.#numbers.set(chipid, count);
        this.simulator.upload(chipid, String(count));
        this.sent.push({ chipid, count, at: Date.now(), fault: this.fault });
      },
      1000 / Number(values.rate),
    );
  }

  stop(): void {
    clearInterval(this.#uploads);
  }

  #write(userDir: string, url: string): void {
    const flow = flows(this.simulator, { devices: DEVICES, journal, url });
    const plain = flow.map((each) => ({ ...each, credentials: undefined }));
    const { appkey } = this.simulator;
    writeFileSync(join(userDir, 'flows.json'), JSON.stringify(plain));
    writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ app: { appkey } }));
  }
}

const FAULTS: Readonly<Record<string, (cluster: Cluster) => Promise<void>>> = {
  none: () => sleep(SETTLE),
  'a process is killed': async (cluster) => {
    await cluster.end(1, 'SIGKILL');
    await sleep(SETTLE);
    await cluster.again(1);
  },
  'a process hangs for 15 s': async (cluster) => {
    cluster.signal(2, 'SIGSTOP');
    await sleep(15_000);
    cluster.signal(2, 'SIGCONT');
  },
  'a process ends and starts': async (cluster) => {
    await cluster.end(1, 'SIGTERM');
    await sleep(3000);
    await cluster.again(1);
  },
  'each process ends and starts, one after another': async (cluster) => {
    for (let at = 0; at < PROCESSES; at++) {
      await cluster.end(at, 'SIGTERM');
      await cluster.again(at);
    }
  },
  'Redis is killed for 5 s, and has its file': async (cluster) => {
    await cluster.redis.end('SIGKILL');
    await sleep(5000);
    await cluster.restartRedis();
  },
  'Redis hangs for 20 s': async (cluster) => {
    cluster.redis.stop();
    await sleep(20_000);
    cluster.redis.cont();
  },
  'Redis loses all': async (cluster) => {
    const engine = new Redis(cluster.redis.url);
    await engine.flushall();
    engine.disconnect();
  },
  'a process is cut off from Redis for 15 s': async (cluster) => {
    cluster.proxy.cut(true);
    await sleep(15_000);
    cluster.proxy.cut(false);
  },
};

async function main(): Promise<void> {
  const config = ['appendonly yes', 'appendfsync everysec', `dir ${folder}`];
  const redis = await startRedis({ config });
  const simulator = await startSimulator({ interval: 0, answerDelay: 5, devices: DEVICES.length });
  const cluster = new Cluster(simulator, redis, await startProxy(redis.port), config);
  try {
    for (let at = 0; at < PROCESSES; at++) await cluster.start(at);
    const areOpen = (): boolean => DEVICES.every((chipid) => simulator.channels(chipid) > 0);
    await until(areOpen, 'all channels are open', 120_000);
    await sleep(10_000);
    cluster.begin();
    for (const [name, run] of Object.entries(FAULTS)) {
      if (values.only !== undefined && !name.includes(values.only)) continue;
      process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${name}\n`);
      cluster.fault = name;
      await run(cluster);
      await sleep(SETTLE);
    }
    cluster.stop();
    await sleep(70_000);
  } finally {
    cluster.stop();
    for (const red of cluster.running) await red?.end('SIGKILL').catch(() => undefined);
    await cluster.redis.end();
  }
  const received = DEVICES.flatMap((chipid) => simulator.device(chipid).received);
  const verdict = judge(
    cluster.sent,
    readFileSync(journal, 'utf8'),
    received.map(({ text }) => text),
  );
  for (const [name, row] of verdict.faults) {
    const { uploads, lost, doubled, marked, outOfOrder, delay } = row;
    process.stdout.write(
      `\n${table(name, [
        ['uploads', number(uploads)],
        ['**lost**', number(lost)],
        ['**doubled without a mark**', number(doubled)],
        ['doubled, marked', number(marked)],
        ['**out of order**', number(outOfOrder)],
        ['longest delay', seconds(delay)],
      ])}\n`,
    );
  }
  const { commands } = verdict;
  process.stdout.write(
    `\n${table('commands', [
      ['in all', number(commands.all)],
      ['succeeded', number(commands.ok)],
      ['not sent', number(commands.notSent)],
      ['uncertain', number(commands.uncertain)],
      ['without an end', number(commands.open)],
      ['**acted twice**', number(commands.twice)],
      ['**not sent, but acted**', number(commands.lied)],
      ['**succeeded, but did not act**', number(commands.missing)],
    ])}\n`,
  );
  for (const line of commands.wrong) process.stdout.write(`${line}\n`);
  if (commands.wrong.length > 0) process.stdout.write(`${journal} has all\n`);
  await simulator.close();
  process.exit(verdict.isGood ? 0 : 1);
}

void main();
