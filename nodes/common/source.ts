import type { Node, NodeAPI, NodeStatus } from 'node-red';
import {
  type DeviceCloudClient,
  invalidInput,
  isDeviceCloudError,
  type Keeping,
} from '../../src/index';
import { findApp, type App } from './app';
import { messageOf } from './errors';
import { readProperties, type Choices } from './settings';
import { clusterStatus, failureStatus, StatusLine } from './status';

/** Milliseconds during which further faults of a kind are only counted. */
const WINDOW = 60_000;

/** How many kinds are distinguished; all further ones count as one more. */
const MAX_KINDS = 100;
const OTHERS = 'others';

/** Writes faults without flooding the log. */
export class FaultLog {
  readonly #kinds = new Map<string, { timer: NodeJS.Timeout; more: number; example: string }>();
  #isClosed = false;
  readonly #log: (line: string) => void;

  /** @param log writes a line to the log */
  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /**
   * The first fault of a kind is written at once; further ones of that minute are counted, and written
   * at its end as one line, with the last of them as an example.
   * @param kind the same for faults that differ only in the device, an id, a number
   */
  write(kind: string, line: string): void {
    if (this.#isClosed) return;
    const name = this.#kinds.has(kind) || this.#kinds.size < MAX_KINDS ? kind : OTHERS;
    const known = this.#kinds.get(name);
    if (known) {
      known.more++;
      known.example = line;
    } else {
      this.#count(name);
      this.#log(line);
    }
  }

  /** Writes what has been counted. Nothing is written after that. */
  close(): void {
    this.#isClosed = true;
    for (const name of this.#kinds.keys()) this.#end(name);
  }

  /** A line a minute as long as faults continue; after a quiet minute the kind is new again. */
  #count(name: string): void {
    const timer = setTimeout(() => {
      if (this.#end(name)) this.#count(name);
    }, WINDOW);
    this.#kinds.set(name, { timer, more: 0, example: '' });
  }

  /** @returns whether anything was counted */
  #end(name: string): boolean {
    const { timer, more = 0, example = '' } = this.#kinds.get(name) ?? {};
    clearTimeout(timer);
    this.#kinds.delete(name);
    if (more === 1) this.#log(example);
    else if (more > 1) this.#log(`${more} more of this kind within a minute, the last: ${example}`);
    return more > 0;
  }
}

/** Milliseconds until a node that could not start tries again by itself. */
const RETRY = 10_000;

/** The life of a node that emits messages by itself: from its properties to its client, its status, its log and its end. */
export abstract class SourceLife<C extends { app: string }> {
  protected readonly app: App;
  protected readonly config: C;
  protected readonly status: StatusLine;
  protected readonly log = new FaultLog((line) => this.node.warn(line));
  /** Why the latest attempt to start has failed. */
  protected failure: unknown;
  readonly #wrong: string | undefined;
  /** The latest attempt to start. It never rejects. */
  #starting: Promise<void> = Promise.resolve();
  #hasStarted = false;
  #isClosed = false;
  readonly #ends: (() => void)[] = [];
  #retry: NodeJS.Timeout | undefined;
  #hasUnusable = false;

  constructor(
    RED: NodeAPI,
    protected readonly node: Node,
    def: Partial<C>,
    defaults: C,
    choices: Choices,
  ) {
    const { config, problem } = readProperties<C>(def, defaults, choices);
    this.config = config;
    this.#wrong = problem;
    this.app = findApp(RED, config.app);
    this.status = new StatusLine(node);
    this.app.join(node);
  }

  protected get isClosed(): boolean {
    return this.#isClosed;
  }

  /** Begins, with a store that is loaded. @throws if it cannot */
  protected abstract begin(client: DeviceCloudClient, store: Keeping): void;

  /** What it shows while nothing is wrong with the cluster; undefined: what it has shown. */
  protected abstract statusNow(): NodeStatus | undefined;

  /** Starts, unless it has: after the attempt that is under way. Never rejects. */
  start(): Promise<void> {
    const isDone = (): boolean => this.#hasStarted || this.#isClosed;
    this.#starting = this.#starting.then(() => (isDone() ? undefined : this.#start()));
    return this.#starting;
  }

  async #start(): Promise<void> {
    try {
      if (this.#wrong !== undefined) throw invalidInput(this.#wrong);
      const client = await this.app.client('open');
      const store = this.app.store();
      await store.loaded;
      if (this.#isClosed) return;
      this.begin(client, store);
      this.#hasStarted = true;
      const show = (): void => this.show();
      store.onProblem.add(show);
      this.atEnd(() => store.onProblem.delete(show));
      show();
    } catch (error) {
      if (this.#isClosed) return;
      this.failure = error;
      this.failed(error);
      // What the configuration is not to blame for, such as a simulator that could not start, may pass.
      const isWrong = isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED');
      if (isWrong || this.app.problem('open')) return;
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => void this.start(), RETRY);
    }
  }

  /** Shows how it is now. */
  protected show(): void {
    this.status.update(() => clusterStatus(this.app.cluster()) ?? this.statusNow());
  }

  /** Whether a failure is what its status shows. */
  protected get isIdle(): boolean {
    return true;
  }

  protected failed(error: unknown): void {
    const message = messageOf(error);
    this.log.write(message, message);
    if (this.isIdle) this.status.update(() => failureStatus(error));
  }

  /** Logs that the list of online devices has records that name no device: once, until a list has none. */
  protected onUnusable(records: number): void {
    if (records > 0 && !this.#hasUnusable) {
      const [some, have, are] =
        records === 1 ? ['One record', 'has', 'is'] : [`${records} records`, 'have', 'are'];
      this.log.write(
        'unusable records',
        `${some} of the list of online devices ${have} no valid chip number and ${are} ignored. Check that the address is the service's.`,
      );
    }
    this.#hasUnusable = records > 0;
  }

  /** Has something done when the node closes. */
  protected atEnd(end: () => void): void {
    this.#ends.push(end);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    this.status.close();
    for (const end of this.#ends) end();
    this.log.close();
    this.app.leave(this.node);
  }
}
