import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Redis } from 'ioredis';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { makeUserDir } from '../../tooling/node-red/user-dir';
import { startNodeRed, type NodeRedProcess } from '../../tooling/node-red/process';
import { startFront, type Front } from '../../tooling/servers/front';
import { freePort } from '../../tooling/servers/ports';
import { startRedis, type RedisProcess } from '../../tooling/servers/redis';
import { number, seconds, table } from '../../tooling/table';
import { until } from '../../tooling/until';
import { repository } from '../../tooling/repository';
import { ACKED, flows } from './flow';
import { judgeKills, killAgain, waitingIn, type Kill, type Victim } from './again';
import { judge, type Opened, type Sent } from './judge';

/*
 * Three Node-REDs that share devices on one Redis, and one fault after another: `npm run soak:cluster -- --devices 600 --rate 100`.
 * At the end it prints, for each fault, what was lost, doubled or out of order, and for how long uploads were late. `--replace`: the
 * service closes a channel when another one of its device is opened; `--sentinel`: a replica takes over when Redis is killed; `--kills`:
 * how many short lives of a process there are; `--waiting`: commands that wait for their device, a second in each process.
 * `--only again --devices 60 --rate 20 --waiting 5 --kills 200` kills between emission and acknowledgement, with commands that wait.
 */

const { values } = parseArgs({
  options: {
    devices: { type: 'string', default: '600' },
    rate: { type: 'string', default: '100' },
    only: { type: 'string' },
    kills: { type: 'string', default: '10' },
    processes: { type: 'string', default: '3' },
    waiting: { type: 'string', default: '1' },
    replace: { type: 'boolean', default: false },
    sentinel: { type: 'boolean', default: false },
  },
});
const DEVICES = Array.from({ length: Number(values.devices) }, (_, at) => String(10_000_001 + at));
const PROCESSES = Number(values.processes);

/** Milliseconds that a fault is given until all follows. */
const SETTLE = 15_000;

/** A process with it has a clock that SIGWINCH sets an hour ahead, and back. */
const CLOCK = join(repository, 'test', 'soak', 'cluster', 'clock.cjs');

/** The name of the primary for Sentinels. */
const MASTER = 'cloud';

const folder = mkdtempSync(join(tmpdir(), 'device-cloud-cluster-'));
const journal = join(folder, 'journal');

/** A Sentinel that has a replica take over a second after its primary is gone. */
async function startSentinel(primary: number): Promise<{ port: number; end: () => void }> {
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const watched = [
    `monitor ${MASTER} 127.0.0.1 ${primary} 1`,
    `down-after-milliseconds ${MASTER} 1000`,
    `failover-timeout ${MASTER} 5000`,
  ].map((line) => `sentinel ${line}`);
  writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...watched].join('\n'));
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  return { port, end: () => void child.kill('SIGKILL') };
}

class Cluster {
  readonly running: (NodeRedProcess | undefined)[] = [];
  readonly sent: Sent[] = [];
  readonly opened: Opened[] = [];
  readonly #numbers = new Map<string, number>();
  #uploads: NodeJS.Timeout | undefined;
  #looks: NodeJS.Timeout | undefined;
  fault = 'none';
  kills: Kill[] = [];

  constructor(
    readonly simulator: Simulator,
    public redis: RedisProcess,
    /** The way of the first process to Redis. */
    readonly front: Front,
    readonly config: readonly string[],
    readonly sentinel?: { port: number },
  ) {}

  async start(at: number): Promise<void> {
    const userDir = join(folder, `user-${at}`);
    const port = at === 0 ? this.front.port : this.redis.port;
    makeUserDir(userDir);
    const { sentinel } = this;
    const engine = sentinel
      ? { url: '', sentinels: `127.0.0.1:${sentinel.port}`, master: MASTER }
      : { url: `redis://127.0.0.1:${port}` };
    this.#write(userDir, engine);
    await this.again(at);
  }

  async again(at: number): Promise<void> {
    const userDir = join(folder, `user-${at}`);
    const settings = { functionExternalModules: true };
    const env = { NODE_OPTIONS: `--require ${CLOCK}`, SOAK_PLACE: String(at) };
    this.running[at] = await startNodeRed({ userDir, settings, env });
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

  async restartRedis(config = this.config): Promise<void> {
    this.redis = await startRedis({ port: this.redis.port, config });
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
        this.sent.push({ chipid, count, at: now(), fault: this.fault });
      },
      1000 / Number(values.rate),
    );
  }

  /** Notes each channel that is opened: the simulator remembers its latest requests alone. */
  watch(): void {
    const seen = new WeakSet<object>();
    this.#looks = setInterval(() => {
      for (const request of this.simulator.requests) {
        if (request.status !== 101 || seen.has(request)) continue;
        seen.add(request);
        const chipid = new URLSearchParams(request.query).get('chipid') ?? '';
        this.opened.push({ chipid, at: now() });
      }
    }, 50);
  }

  victim(at: number): Victim {
    return {
      pid: () => this.running[at]?.pid(),
      kill: () => this.end(at, 'SIGKILL'),
      start: () => this.again(at),
    };
  }

  stop(): void {
    clearInterval(this.#uploads);
    clearInterval(this.#looks);
  }

  #write(userDir: string, engine: object): void {
    const flow = flows(this.simulator, {
      ...{ devices: DEVICES, journal, engine, processes: PROCESSES },
      waiting: Number(values.waiting),
    });
    const plain = flow.map((each) => ({ ...each, credentials: undefined }));
    const { appkey } = this.simulator;
    writeFileSync(join(userDir, 'flows.json'), JSON.stringify(plain));
    writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ app: { appkey } }));
  }
}

/** Milliseconds by a clock that all processes of this machine share, and that is never set. */
const now = (): number => Number(process.hrtime.bigint() / 1_000_000n);

type Faults = Readonly<Record<string, (cluster: Cluster) => Promise<void>>>;

const FAULTS: Faults = {
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
    cluster.front.restart(15_000);
    await sleep(15_000);
  },
  'the clock of a machine is set an hour ahead, and back': async (cluster) => {
    for (let times = 0; times < 2; times++) {
      cluster.signal(1, 'SIGWINCH');
      await sleep(10_000);
    }
  },
  'all processes but one are killed again and again': async (cluster) => {
    const engine = new Redis(cluster.redis.url);
    const victims = Array.from({ length: PROCESSES - 1 }, (_, at) => cluster.victim(at + 1));
    const { baseUrl, appid } = cluster.simulator;
    const waiting = (): Promise<string[]> => waitingIn(engine, `${baseUrl}/${appid}`);
    cluster.kills = await killAgain(victims, Number(values.kills), journal, waiting);
    engine.disconnect();
  },
  'Redis is killed for 5 s, and has lost all': async (cluster) => {
    await cluster.redis.end('SIGKILL');
    await sleep(5000);
    await cluster.restartRedis(['appendonly no']);
  },
};

/** With a Sentinel and a replica. */
const FAILOVERS: Faults = {
  'Redis is killed, and its replica takes over': async (cluster) => {
    await cluster.redis.end('SIGKILL');
    await sleep(SETTLE);
  },
};

/** How many commands an engine has had, those that scripts make included, and how many scripts. */
async function countCommands(url: string): Promise<{ all: number; scripts: number; at: number }> {
  const engine = new Redis(url);
  const text = await engine.info('commandstats');
  engine.disconnect();
  const found = [...text.matchAll(/^cmdstat_(.+):calls=(\d+)/gm)];
  const sum = (all: RegExpMatchArray[]): number =>
    all.reduce((total, [, , calls]) => total + Number(calls), 0);
  const scripts = sum(found.filter(([, name = '']) => /^eval/.test(name)));
  return { all: sum(found), scripts, at: now() };
}

async function main(): Promise<void> {
  const config = ['appendonly yes', 'appendfsync everysec', `dir ${folder}`];
  const redis = await startRedis({ config });
  const replica = values.sentinel
    ? await startRedis({ config: [`replicaof 127.0.0.1 ${redis.port}`] })
    : undefined;
  const sentinel = values.sentinel ? await startSentinel(redis.port) : undefined;
  const simulator = await startSimulator({
    ...{ interval: 0, answerDelay: 5, devices: DEVICES.length, replace: values.replace },
  });
  const front = await startFront(redis.port);
  const cluster = new Cluster(simulator, redis, front, config, sentinel);
  try {
    for (let at = 0; at < PROCESSES; at++) await cluster.start(at);
    const areOpen = (): boolean => DEVICES.every((chipid) => simulator.channels(chipid) > 0);
    await until(areOpen, 'all channels are open', 120_000);
    await sleep(10_000);
    cluster.watch();
    await sleep(1000);
    cluster.begin();
    const before = await countCommands(redis.url);
    await sleep(SETTLE);
    const after = await countCommands(redis.url);
    const rate = (what: 'all' | 'scripts'): string =>
      number(Math.round((1000 * (after[what] - before[what])) / (after.at - before.at)));
    process.stdout.write(
      `${table('of the engine, a second', [
        ['commands, in scripts too', rate('all')],
        ['scripts', rate('scripts')],
      ])}\n`,
    );
    for (const [name, run] of Object.entries(sentinel ? FAILOVERS : FAULTS)) {
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
    if (cluster.redis.child.pid() !== undefined) await cluster.redis.end();
    await replica?.end();
    sentinel?.end();
  }
  const received = DEVICES.flatMap((chipid) => simulator.device(chipid).received);
  const texts = received.map(({ text }) => text);
  const lines = readFileSync(journal, 'utf8')
    .split('\n')
    .map((line) => line.split(' '));
  const verdict = judge(
    cluster.sent,
    lines,
    texts,
    new Set(DEVICES.slice(0, ACKED)),
    cluster.opened,
  );
  const rows = [
    ...verdict.faults,
    ...[...verdict.acked].map(([name, row]) => [`acknowledged: ${name}`, row] as const),
  ];
  for (const [name, row] of rows) {
    const { uploads, lost, doubled, marked, outOfOrder, delay } = row;
    const channels = [
      ['channels opened', number(row.opened)],
      ['devices that stayed where they were', number(row.stayed)],
      ['**of them, whose channel was opened anew**', number(row.reopened)],
    ] as const;
    process.stdout.write(
      `\n${table(name, [
        ['uploads', number(uploads)],
        ['**lost**', number(lost)],
        ['**doubled without a mark**', number(doubled)],
        ['doubled, marked', number(marked)],
        ['**out of order**', number(outOfOrder)],
        ['longest delay', seconds(delay)],
        ...(name.startsWith('acknowledged') ? [] : channels),
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
  const killed = judgeKills(cluster.kills, lines, texts, simulator);
  if (cluster.kills.length > 0)
    process.stdout.write(
      `\n${table(
        'of what was under way at a kill',
        killed.rows.map(([what, count]) => [what, number(count)]),
      )}\n`,
    );
  for (const line of commands.wrong) process.stdout.write(`${line}\n`);
  if (commands.wrong.length > 0) process.stdout.write(`${journal} has all\n`);
  await simulator.close();
  process.exit(verdict.isGood && killed.isGood ? 0 : 1);
}

void main();
