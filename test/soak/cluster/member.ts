import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { endingWithParent, startNodeRed } from '../../../tooling/node-red/process';
import { keep, type Child } from '../../../tooling/process';
import type { Front } from '../../../tooling/servers/front';
import type { MemberFiles } from './flow';
import type { LibrarySettings } from './library-member';

const SETTINGS = { httpAdminRoot: false };

/** Starts a process, and waits until its flow runs. */
export type Launch = () => Promise<Child>;

export const nodeRed =
  (userDir: string, env: NodeJS.ProcessEnv): Launch =>
  () =>
    startNodeRed({ userDir, settings: SETTINGS, env });

/** A process with the client library alone. */
export const library =
  (settings: LibrarySettings): Launch =>
  async () => {
    const program = join(__dirname, 'library-member.js');
    const args = [...endingWithParent, program, JSON.stringify(settings)];
    const child = keep(
      'A process',
      spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] }),
    );
    await child.logged(/Started flows/);
    return child;
  };

/** One of the processes, started as often as it is ended. */
export class Member {
  private red: Child | undefined;
  /** What all its lives have logged. */
  private before = '';

  constructor(
    readonly index: number,
    readonly files: MemberFiles,
    /** Between it and the engine; none with Sentinels, which say where the engine is. */
    readonly front: Front | undefined,
    private readonly launch: Launch,
    /** Is called when it ends without having been asked to. */
    private readonly onCrash: (error: unknown) => void,
  ) {}

  async start(): Promise<void> {
    this.red = await this.launch();
    this.red.crashed.catch(this.onCrash);
  }

  /** @param signal SIGTERM asks it to end, SIGKILL does not ask */
  async end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    const { red } = this;
    if (!red) return;
    this.red = undefined;
    await red.end(signal);
    this.before += red.log();
  }

  /** Stops it where it is, as a machine that hangs. */
  pause(): void {
    this.child.process.kill('SIGSTOP');
  }

  resume(): void {
    this.child.process.kill('SIGCONT');
  }

  get log(): string {
    return this.before + (this.red?.log() ?? '');
  }

  private get child(): Child {
    if (!this.red) throw new Error(`Process ${this.index} does not run.`);
    return this.red;
  }
}
