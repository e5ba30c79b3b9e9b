import { rmSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { comesToHold, until } from '../../../tooling/until';
import { removeFolder, temporaryFolder } from '../../../tooling/temporary-folder';
import { audit, matchUploads, type Audit } from '../audit';
import { auditFleet, unsettled } from '../fleet-audit';
import { readAccepted, readOpened, readRecords, type Emitted } from '../lines';
import { readNotes } from '../notes';
import { startService, type ServiceProcess } from '../service-process';
import { startSentinels, startSingle, type Engine } from './engine';
import { prepareMember, URL_VARIABLE, type MemberFiles } from './flow';
import type { LibrarySettings } from './library-member';
import { library, Member, nodeRed } from './member';
import { PROCESSES, type Measured, type Row } from './row';
import { measureTakeovers } from './takeover';
import type { Scene } from './trouble';

export interface RunSettings {
  row: Row;
  minutes: number;
  lease: number;
  seed: string;
  /** Whether the processes run the client library alone, without Node-RED. */
  library: boolean;
}

const READY_LIMIT = 240_000;
const QUIET_LIMIT = 120_000;
/** Nothing has come for so long: nothing more is under way. */
const REST = 5000;
const LONG_REST = 30_000;

const inOrder = (emitted: readonly Emitted[]): Emitted[] =>
  [...emitted].sort((a, b) => a.at - b.at);

/** Milliseconds. */
const WINDOW = 300;

/** How many messages the processes that trouble was made for emitted in a short time from then on. */
function countInWindow(troubles: Scene['troubles'], emittedBy: readonly Emitted[][]): number {
  const counts = troubles.map(({ at: from, member = -1 }) => {
    const emitted = emittedBy[member] ?? [];
    return emitted.filter(({ at }) => at >= from && at <= from + WINDOW).length;
  });
  return counts.reduce((sum, count) => sum + count, 0);
}

/** One run of a row. */
class Run {
  private readonly members: Member[] = [];
  private engine: Engine | undefined;
  private service!: ServiceProcess;
  private fail: (error: unknown) => void = () => undefined;
  private readonly failed = new Promise<never>((_, reject) => (this.fail = reject));

  constructor(
    private readonly folder: string,
    private readonly settings: RunSettings,
  ) {
    this.failed.catch(() => undefined);
  }

  private path(name: string): string {
    return join(this.folder, name);
  }

  async measure(): Promise<Measured> {
    const [load = 0] = loadavg();
    await this.guard(this.start());
    const { upgrades } = await this.service.tell('begin');
    writeFileSync(this.path('go'), '');
    const { minutes } = this.settings;
    const scene: Scene = {
      members: this.members,
      engine: this.engine,
      end: Date.now() + minutes * 60_000,
      troubles: [],
    };
    await this.guard(this.settings.row.trouble(scene));
    rmSync(this.path('go'));
    const calm = await this.service.tell('calm');
    const isQuiet = await this.guard(this.quiet());
    const measured = await this.collect(scene, calm.upgrades - upgrades);
    await this.end();
    return { ...measured, quiet: isQuiet, load };
  }

  /** @returns the promise's result, unless a process ends that was not to */
  private guard<T>(promise: Promise<T>): Promise<T> {
    return Promise.race([promise, this.failed]);
  }

  private async start(): Promise<void> {
    const { row, seed, lease } = this.settings;
    const { devices, rate, extra, engine, replace = false } = row;
    const files = { acceptedFile: this.path('accepted'), openedFile: this.path('opened') };
    this.service = await startService({
      ...{ devices, rate, seed, history: 'text', replace, ...files },
    });
    this.service.child.crashed.catch(this.fail);
    if (engine === 'url') this.engine = await startSingle(this.path('engine'));
    if (engine === 'sentinels') this.engine = await startSentinels(this.path('engine'));
    for (let index = 0; index < PROCESSES; index++) {
      const member = this.filesOf(index);
      prepareMember(member, this.service.address, { extra, engine, lease });
      const { env, front } = (await this.engine?.way()) ?? { env: {} };
      const launch = this.settings.library
        ? library(this.librarySettings(member.records, env))
        : nodeRed(member.userDir, env);
      this.members.push(new Member(index, member, front, launch, this.fail));
    }
    await Promise.all(this.members.map((member) => member.start()));
    await this.ready();
  }

  private librarySettings(records: string, env: NodeJS.ProcessEnv): LibrarySettings {
    const { baseUrl, appid, appkey, chipids } = this.service.address;
    const url = env[URL_VARIABLE] ?? '';
    return { baseUrl, appid, appkey, chipids, records, url, lease: this.settings.lease };
  }

  private filesOf(index: number): MemberFiles {
    const own = (name: string): string => this.path(`${name}-${index}`);
    return {
      ...{ userDir: own('user'), records: own('records'), acknowledged: own('acknowledged') },
      ...{ notes: own('notes'), go: this.path('go') },
    };
  }

  /** Each device has one channel, and its history has been read: from now on each upload counts. */
  private async ready(): Promise<void> {
    const { devices } = this.settings.row;
    let since = Date.now();
    const isReady = async (): Promise<boolean> => {
      await sleep(500);
      const { open, devicesRead } = await this.service.tell('state');
      if (open !== devices || devicesRead < devices) since = Date.now();
      // A process that has just joined takes its share within a lease.
      return Date.now() - since > 1500 * this.settings.lease;
    };
    await until(isReady, 'each device has one channel', READY_LIMIT);
  }

  /** What has been emitted, by process. */
  private emitted(): Emitted[][] {
    return this.members.map(({ files }) => readRecords(files.records).emitted);
  }

  private audit(emitted: readonly Emitted[][]): Audit {
    const { chipids } = this.service.address;
    return audit(chipids, readAccepted(this.path('accepted')), inOrder(emitted.flat()));
  }

  private acknowledged(): number {
    const lines = this.members.map(({ files }) => readRecords(files.acknowledged).emitted.length);
    return lines.reduce((sum, count) => sum + count, 0);
  }

  private isBusy(): boolean {
    const open = this.members.map(({ files }) => unsettled(readNotes(files.notes)));
    return open.some((count) => count > 0);
  }

  /** @returns whether everything has come to rest in time */
  private async quiet(): Promise<boolean> {
    let seen = -1;
    let since = Date.now();
    const isQuiet = async (): Promise<boolean> => {
      await sleep(1000);
      const emitted = this.emitted();
      const count = emitted.flat().length + this.acknowledged();
      if (count !== seen || this.isBusy()) since = Date.now();
      seen = count;
      const rest = Date.now() - since;
      return rest >= LONG_REST || (rest >= REST && this.audit(emitted).lost === 0);
    };
    return comesToHold(isQuiet, QUIET_LIMIT);
  }

  private async collect(scene: Scene, reopened: number) {
    const { row, minutes, lease } = this.settings;
    const { acted = {}, atOnce } = await this.service.tell('acted');
    const { chipids, peers } = this.service.address;
    const emittedBy = this.emitted();
    const emitted = inOrder(emittedBy.flat());
    const accepted = readAccepted(this.path('accepted'));
    const result = audit(chipids, accepted, emitted);
    const takeovers = measureTakeovers({
      ...{ troubles: scene.troubles, emittedBy, opened: readOpened(this.path('opened')) },
      ...{ matches: matchUploads(accepted, emitted), end: Date.now() },
    });
    const world = { chipids, peers, calmAt: scene.end };
    const fleets = this.members.map(({ files }) =>
      auditFleet(readNotes(files.notes), acted, world),
    );
    const sum = (name: 'requests' | 'replied' | 'held' | 'sent'): number =>
      fleets.reduce((total, fleet) => total + fleet[name], 0);
    const fleet = {
      ...{
        requests: sum('requests'),
        replied: sum('replied'),
        held: sum('held'),
        sent: sum('sent'),
      },
      wrong: fleets.flatMap((each) => each.wrong),
    };
    return {
      ...result,
      inWindow: countInWindow(scene.troubles, emittedBy),
      ...{ row, minutes, lease, troubles: scene.troubles.length, takeovers, reopened, fleet },
      ...{ atOnce: atOnce ?? { calls: 0, overlaps: 0, most: 0, channels: 0 } },
      acknowledged: this.acknowledged(),
      usage: await this.engine?.usage(),
      queued: (await this.engine?.queued()) ?? 0,
      shares: emittedBy.map((each) => each.length),
      logs: this.members.map(({ log }) => log),
    };
  }

  private async end(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end('SIGTERM')));
    await this.engine?.close();
    await this.service.child.end('SIGKILL');
  }
}

/** Runs a row in a folder of its own, which is removed after it. */
export async function runRow(settings: RunSettings): Promise<Measured> {
  const folder = temporaryFolder('cluster');
  return new Run(folder, settings).measure().finally(() => removeFolder(folder));
}
