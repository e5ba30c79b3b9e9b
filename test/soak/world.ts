import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { keysOf } from '../../src/cluster/scripts';
import { startSimulator, type FaultName, type Simulator } from '../../src/simulator';
import { SHARES } from '../../src/store/shared';
import { startNodeRed, type NodeRedProcess } from '../tooling/node-red/process';
import { makeUserDir } from '../tooling/node-red/user-dir';
import { keep, type Child } from '../tooling/process';
import { repository } from '../tooling/repository';
import { startFront, type Front } from '../tooling/servers/front';
import { freePort } from '../tooling/servers/ports';
import { startRedis, type RedisProcess } from '../tooling/servers/redis';
import { temporaryFolder } from '../tooling/temporary-folder';
import { comesToHold, until } from '../tooling/until';
import { flows } from './flow';

/** How a soak is run. */
export interface SoakOptions {
  devices: number;
  /** Uploads a second, of all devices together. */
  rate: number;
  /** More than one share an application, on Redis. */
  processes: number;
  /** Commands a second that wait for their device, of each process. */
  waiting: number;
  /** Whether the service answers as the public server did, whose history does not keep what was uploaded. */
  isPublic: boolean;
  /** Whether the service closes a channel when another one of its device is opened. */
  replace: boolean;
  /** Whether a Sentinel has a replica take over when Redis is gone. */
  sentinel: boolean;
}

/** An upload that the service has accepted. */
export interface Sent {
  chipid: string;
  /** The number of the upload of its device, which is in its body. */
  count: string;
  at: number;
  fault: string;
  /** The hash of its body, and of what the history keeps of it. */
  hash: string;
  kept: string;
}

/** What there was to do at a kill. */
export interface Kill {
  pid: string;
  at: number;
  /** The upload that it had just emitted. */
  chipid: string;
  count: string;
  /** The texts of the commands that waited at that time, of all processes. */
  waiting: readonly string[];
}

/** Devices that come and go and get commands, where one process meets trouble. */
const PEERS = 12;
/** Devices whose uploads are acknowledged, too. */
const ACKED = 60;
/** Uploads of each device that are in its history before the listener is there: they need not be emitted. */
const EARLIER = 3;
/** Every fifth device of the public server has a clock that is two hours behind. */
const [WRONG_CLOCK, BEHIND] = [5, 2 * 3_600_000];
/** Back-off goes up to a minute, and a command waits as long. */
const QUIET_LIMIT = 180_000;
/** Nothing has come for so long: nothing more is under way. */
const REST = 10_000;
const LONG = 'x'.repeat(200);
/** The name of the primary for Sentinels. */
const MASTER = 'cloud';
/** A process with it has a clock that SIGWINCH sets an hour ahead, and back. */
const CLOCK = join(repository, 'test', 'soak', 'clock.cjs');

/** Milliseconds by a clock that all processes of this machine share, and that is never set. */
export const now = (): number => Number(process.hrtime.bigint() / 1_000_000n);

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/**
 * What the history of the public server keeps of an upload, as far as a client can tell: written down here once more, so that
 * the simulator is not checked with its own code.
 */
function keptOf(body: string): string {
  const [first = '', ...rest] = body.trim().split(',');
  return rest.length === 0 ? first : rest.join('');
}

/** Text and JSON; where a history loses some of it, with line ends and commas. */
function usualBody(tag: string, count: number, isLossy: boolean): string {
  if (isLossy && count % 2 === 0) return `reading,${tag}\r\n`;
  if (isLossy) return `${JSON.stringify({ t: 21.5, tag, h: 40 })}\r\n`;
  if (count % 2 === 0) return `reading ${tag}`;
  // Some are longer than what recovery remembers of one as it is.
  return JSON.stringify(count % 11 === 0 ? { tag, note: LONG } : { tag });
}

const configIn = (folder: string): string[] => [
  ...['appendonly yes', 'appendfsync everysec', `dir ${folder}`],
];

/** A replica, and a Sentinel that has it take over a second after its primary is gone. */
async function startStandby(
  folder: string,
  primary: number,
): Promise<{ replica: RedisProcess; sentinel: Child; port: number }> {
  const replica = await startRedis({ config: [`replicaof 127.0.0.1 ${primary}`] });
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const watched = [
    `monitor ${MASTER} 127.0.0.1 ${primary} 1`,
    `down-after-milliseconds ${MASTER} 1000`,
    `failover-timeout ${MASTER} 5000`,
  ].map((line) => `sentinel ${line}`);
  writeFileSync(file, [`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`, ...watched].join('\n'));
  const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' });
  return { replica, sentinel: keep('the Sentinel', child), port };
}

/** A service, its devices, and one Node-RED or several that share them. */
export class World {
  readonly journal: string;
  readonly sent: Sent[] = [];
  readonly opened: { chipid: string; at: number }[] = [];
  readonly kills: Kill[] = [];
  readonly devices: readonly string[];
  readonly peers: readonly string[];
  readonly acked: readonly string[];
  readonly isPublic: boolean;
  readonly isShared: boolean;
  /** What is happening, for the uploads of that time. */
  fault = 'none';
  /** When all trouble was over: from then on all devices are awake. */
  calmAt = Infinity;
  readonly #running: NodeRedProcess[] = [];
  /** The logs of all processes, by their ids. */
  readonly #logs = new Map<string, () => string>();
  readonly #counts = new Map<string, number>();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #lines: string[][] = [];
  readonly #file: number;
  #rest = '';

  private constructor(
    readonly options: SoakOptions,
    readonly folder: string,
    readonly simulator: Simulator,
    /** The way of the first process to Redis or, where there is no other process, to the service. */
    readonly front: Front,
    /** The engine, its replica and its Sentinel. */
    public redis?: RedisProcess,
    readonly standby?: { replica: RedisProcess; sentinel: Child; port: number },
  ) {
    const all = [...simulator.devices.keys()];
    this.isPublic = options.isPublic;
    this.isShared = redis !== undefined;
    this.devices = all.slice(0, options.devices);
    this.peers = redis ? this.devices : all.slice(options.devices);
    this.acked = redis ? this.devices.slice(0, ACKED) : [];
    this.journal = join(folder, 'journal');
    this.#file = openSync(this.journal, 'a+');
  }

  /** Starts all, and waits until each upload counts. */
  static async start(options: SoakOptions): Promise<World> {
    const { processes, sentinel, isPublic, replace } = options;
    const isShared = processes > 1;
    const folder = temporaryFolder('soak');
    const simulator = await startSimulator({
      dialect: isPublic ? 'public-2016' : 'document',
      interval: 0,
      offlineAfter: 1000,
      answerDelay: isShared ? 5 : 50,
      replace,
      devices: options.devices + (isShared ? 0 : PEERS),
    });
    const redis = isShared ? await startRedis({ config: configIn(folder) }) : undefined;
    const front = await startFront(redis?.port ?? simulator.port);
    const standby = redis && sentinel ? await startStandby(folder, redis.port) : undefined;
    const world = new World(options, folder, simulator, front, redis, standby);
    await world.#begin();
    return world;
  }

  async #begin(): Promise<void> {
    const { simulator, devices, options } = this;
    for (const chipid of devices)
      for (let count = 0; count < EARLIER; count++) simulator.upload(chipid, `earlier ${count}`);
    const read = new Set<string>();
    simulator.rewriteHistory((records, chipid) => {
      read.add(chipid);
      return records;
    });
    for (let at = 0; at < options.processes; at++) await this.#install(at);
    const isReady = (): boolean =>
      devices.every((chipid) => read.has(chipid) && simulator.channels(chipid) > 0);
    await until(isReady, 'all channels are open, and all histories read', 120_000);
    // Positions are written at most every few seconds, and what comes before is not given back.
    await sleep(10_000);
    simulator.rewriteHistory();
    this.#watchChannels();
    await sleep(1000);
    this.#uploadInTurn();
  }

  /** Makes the user folder of a Node-RED, and starts it. */
  async #install(at: number): Promise<void> {
    const { simulator, journal, devices, acked, peers, isPublic, front, redis, standby } = this;
    const { processes, waiting } = this.options;
    const userDir = makeUserDir(join(this.folder, `user-${at}`));
    const url = `redis://127.0.0.1:${at === 0 ? front.port : redis?.port}`;
    const sentinels = standby && `127.0.0.1:${standby.port}`;
    const engine = redis && (sentinels ? { url: '', sentinels, master: MASTER } : { url });
    const baseUrl = redis ? simulator.baseUrl : `http://127.0.0.1:${front.port}`;
    const flow = flows({
      journal,
      devices,
      acked,
      peers,
      waiting,
      engine,
      processes,
      service: { ...simulator, baseUrl },
      // What was uploaded is compared to the byte where a history loses some.
      datatype: isPublic ? 'utf8' : 'auto-detect',
    });
    const { appkey } = simulator;
    writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flow));
    writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ app: { appkey } }));
    await this.startAgain(at);
  }

  async startAgain(at: number): Promise<void> {
    const settings = { functionExternalModules: true };
    const env = { NODE_OPTIONS: `--require ${CLOCK}`, SOAK_PLACE: String(at) };
    const userDir = join(this.folder, `user-${at}`);
    const red = await startNodeRed({ userDir, settings, env });
    this.#running[at] = red;
    this.#logs.set(String(red.pid()), () => red.log());
  }

  process(at: number): NodeRedProcess {
    return this.#running[at]!;
  }

  /** Ids of the processes that live. */
  pids(): string[] {
    return this.#running.flatMap((red) => red.pid() ?? []).map(String);
  }

  /** @throws Error with the log of a process that has ended by itself */
  async allLive(): Promise<void> {
    for (const red of this.#running) if (red.pid() === undefined) await red.crashed;
  }

  /** The logs of all processes, one after the other. */
  log = (): string => Array.from(this.#logs.values(), (log) => log()).join('\n');

  /**
   * Whether a process, or the one before it, has logged that it goes on without what was missed, since it cannot read a history:
   * what is still missing then comes late after the restart.
   */
  saidLate(pid: string): boolean {
    const logs = [...this.#logs];
    const at = logs.findIndex(([id]) => id === pid);
    return logs
      .slice(Math.max(0, at - 1), at + 1)
      .some(([, log]) => log().includes('missed uploads will come late'));
  }

  async restartRedis(config = configIn(this.folder)): Promise<void> {
    this.redis = await startRedis({ port: this.redis!.port, config });
  }

  /** Whether the order of the uploads of a device is judged. */
  isOrdered(chipid: string): boolean {
    return this.isShared || Number(chipid) % 2 === 0;
  }

  /** Lets a device upload. @param bodyOf has the text by which the upload is known in it */
  upload(chipid: string, bodyOf?: (tag: string) => string, made?: number): void {
    const { isPublic } = this;
    const count = (this.#counts.get(chipid) ?? 0) + 1;
    this.#counts.set(chipid, count);
    const tag = `#${count}#`;
    const body = bodyOf?.(tag) ?? usualBody(tag, count, isPublic);
    const isBehind = isPublic && Number(chipid) % WRONG_CLOCK === 0;
    this.simulator.upload(chipid, body, {
      made: made ?? Date.now() - (isBehind ? BEHIND : 0),
    });
    const hashes = { hash: md5(body), kept: md5(isPublic ? keptOf(body) : body) };
    this.sent.push({ chipid, count: String(count), at: now(), fault: this.fault, ...hashes });
  }

  #uploadInTurn(): void {
    let at = 0;
    const next = (): void => this.upload(this.devices[at++ % this.devices.length]!);
    this.#timers.push(setInterval(next, 1000 / this.options.rate));
  }

  /** Notes each channel that is opened: the simulator remembers its latest requests alone. */
  #watchChannels(): void {
    const seen = new WeakSet<object>();
    const look = (): void => {
      for (const request of this.simulator.requests) {
        if (request.status !== 101 || seen.has(request)) continue;
        seen.add(request);
        const chipid = new URLSearchParams(request.query).get('chipid') ?? '';
        this.opened.push({ chipid, at: now() });
      }
    };
    this.#timers.push(setInterval(look, 50));
  }

  /** Has calls fail for a while. */
  failFor(ms: number, name: FaultName, options: object): void {
    this.#timers.push(setTimeout(this.simulator.fail(name, options), ms));
  }

  /** What the processes have written so far. */
  lines(): readonly (readonly string[])[] {
    const buffer = Buffer.alloc(1 << 20);
    for (let size = 1; size > 0;) {
      size = readSync(this.#file, buffer, 0, buffer.length, null);
      const whole = (this.#rest + buffer.toString('utf8', 0, size)).split('\n');
      this.#rest = whole.pop() ?? '';
      for (const line of whole) this.#lines.push(line.split(' '));
    }
    return this.#lines;
  }

  /** The texts of all commands that wait, as the engine has them. */
  async waitingCommands(): Promise<string[]> {
    if (!this.redis) return [];
    const engine = new Redis(this.redis.url);
    const { baseUrl, appid } = this.simulator;
    const keys = keysOf(`${baseUrl}/${appid}`);
    const shares = Array.from({ length: SHARES }, (_, share) => engine.hgetall(keys.share(share)));
    const entries = (await Promise.all(shares)).flatMap((share) => Object.entries(share));
    engine.disconnect();
    return entries
      .filter(([key]) => key.startsWith('command:'))
      .flatMap(([, text]) => /later:\d+:\d+/.exec(text) ?? []);
  }

  /** No more is uploaded, and nothing fails any more. @returns whether everything has come to rest in time */
  async comesToRest(): Promise<boolean> {
    for (const timer of this.#timers) clearInterval(timer);
    this.simulator.heal();
    this.calmAt = now();
    const emitted = new Set<string>();
    const pending = new Set<string>();
    let [seen, since] = [0, Date.now()];
    const isQuiet = async (): Promise<boolean> => {
      await sleep(500);
      await this.allLive();
      const lines = this.lines();
      const alive = this.pids();
      for (const [what, pid = '', first = '', second = ''] of lines.slice(seen)) {
        if (what === 'upload') emitted.add(`${first} ${second}`);
        else if (what === 'ended') pending.delete(first);
        else if (what === 'asked' && alive.includes(pid) && Number(second) < this.calmAt)
          pending.add(first);
      }
      if (emitted.size < this.sent.length || pending.size > 0) since = Date.now();
      seen = lines.length;
      return Date.now() - since >= REST;
    };
    return comesToHold(isQuiet, QUIET_LIMIT);
  }

  async end(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    for (const red of this.#running) if (red.pid() !== undefined) await red.end('SIGKILL');
    if (this.redis?.child.pid() !== undefined) await this.redis.end();
    await this.standby?.replica.end();
    await this.standby?.sentinel.end('SIGKILL');
    await this.front.close();
    await this.simulator.close();
  }
}
