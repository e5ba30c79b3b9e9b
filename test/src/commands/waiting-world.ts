import { TimerQueue } from '../../../src/channel/timer-queue';
import type { ChannelListener } from '../../../src/channel/listener';
import { DeviceCloudError, type ErrorCode } from '../../../src/errors';
import { Command, Queues } from '../../../src/commands/queue';
import { SavedCalls, type SavedCall } from '../../../src/commands/saved-call';
import { DeviceCommands } from '../../../src/commands/waiting';
import { ServiceClock } from '../../../src/http/answer';
import type { ListReading, ListUser } from '../../../src/fleet/list-poller';
import { FleetRegistry } from '../../../src/fleet/registry';
import type { CallProgress, DeviceRecord, When, CommandWhat } from '../../../src/types';
import { manual, type Manual } from '../support/manual';
import { settled } from '../../tooling/until';
import { pass } from '../../support/clock';
import { MemoryPort, memoryStore } from '../../support/memory-store';

/** What happened, in order: signs of a device, a call without an answer, and commands. */
export type WaitingEvent =
  | { kind: 'listing' | 'lost'; device: string }
  | { kind: 'upload'; device: string; at: number }
  /** A list that was asked for at a time, whether or not it has the device. */
  | { kind: 'read'; device: string; at: number }
  | { kind: 'run' | 'start' | 'end'; device: string; name: string };

type Note = (event: WaitingEvent) => void;

/** A list of online devices that a test sets. */
export class FakeList {
  online: readonly string[] = [];
  isBroken = false;
  /** How long ago a reading began when it is there, in ms. */
  age = 0;
  reads = 0;
  users: ListUser[] = [];
  readonly #note: Note;
  readonly #registry: FleetRegistry;

  constructor(note: Note, registry: FleetRegistry) {
    this.#note = note;
    this.#registry = registry;
  }

  poll(_ms: number, user: ListUser): () => void {
    this.users.push(user);
    return () => {
      this.users = this.users.filter((each) => each !== user);
    };
  }

  read(): Promise<ListReading> {
    this.reads++;
    if (this.isBroken)
      return Promise.reject(new DeviceCloudError('INVALID_RESPONSE', 'the answer is no list'));
    return Promise.resolve(this.#reading());
  }

  /** The poller reads it, for those who joined. */
  refresh(): void {
    const reading = this.#reading();
    for (const user of [...this.users]) user.onReading?.(reading);
  }

  #reading(): ListReading {
    const at = Date.now() - this.age;
    this.#note({ kind: 'read', device: '', at });
    for (const device of this.online) this.#note({ kind: 'listing', device });
    const devices = new Map(this.online.map((each) => [each, {} as DeviceRecord]));
    const reading = { at, devices, invalid: 0, polled: true };
    this.#registry.applyList(reading);
    return reading;
  }
}

/** Channels whose uploads a test makes. */
export class FakeChannels {
  readonly listeners = new Map<string, Set<ChannelListener>>();
  joins = 0;
  readonly #note: Note;
  readonly #registry: FleetRegistry;

  constructor(note: Note, registry: FleetRegistry) {
    this.#note = note;
    this.#registry = registry;
  }

  join(chipid: string, listener: ChannelListener) {
    this.joins++;
    const all = this.listeners.get(chipid) ?? new Set();
    this.listeners.set(chipid, all.add(listener));
    return {
      channel: { state: 'connected' as const, reason: undefined },
      release: () => void (all.delete(listener) && all.size === 0 && this.listeners.delete(chipid)),
    };
  }

  /** @param timestamp by the service's clock */
  upload(chipid: string, timestamp = 0): void {
    this.#note({ kind: 'upload', device: chipid, at: Date.now() });
    const upload = { chipid, appid: '1', timestamp, body: Buffer.of(1) };
    this.#registry.onLive(upload);
    for (const listener of [...(this.listeners.get(chipid) ?? [])]) listener.onUpload?.(upload);
  }
}

/** What becomes of a command. */
export interface Fate {
  progress: CallProgress[];
  promise: Promise<string>;
}

/** Commands to devices whose lists, uploads, answers and clock a test has in its hand. Mock `setTimeout` first. */
export function waitingWorld(gap = 0, port = new MemoryPort()) {
  const events: WaitingEvent[] = [];
  const note = (event: WaitingEvent): void => void events.push(event);
  const registry = new FleetRegistry(Date.now);
  const list = new FakeList(note, registry);
  const channels = new FakeChannels(note, registry);
  const queues = new Queues(gap);
  const timers = new TimerQueue(Date.now);
  const clock = new ServiceClock(Date.now, Date.now);
  const store = memoryStore(port);
  const calls = new SavedCalls(store);
  const commands = new DeviceCommands({
    ...{ channels, queues, timers, list, clock, now: Date.now, registry },
  });
  const started: string[] = [];
  const running = new Map<string, Manual<string>>();

  return {
    ...{ events, list, channels, queues, timers, started, running, commands },
    ...{ clock, store, calls, port },
    run(name: string, when: When, options: RunOptions = {}): Fate {
      const { device = '1', expires = 3600, signal, onProgress } = options;
      const { what = { kind: 'reboot' }, replace = false, node, saved } = options;
      const progress: CallProgress[] = [];
      note({ kind: 'run', device, name });
      const command = (): Promise<string> => {
        note({ kind: 'start', device, name });
        started.push(name);
        const call = manual<string>();
        running.set(name, call);
        return call.promise;
      };
      const show = (each: CallProgress): void => {
        progress.push(each);
        onProgress?.(each);
      };
      const caller = { signal, progress: show };
      const limits = {
        ...{ ...caller, when, expires: expires * 1000, what, replace },
        origin: { ...(node !== undefined && { node }), ...(saved && { saved }) },
      };
      const promise =
        when === 'now'
          ? queues.run(new Command(device, command, limits, commands.onFailure))
          : commands.run(device, command, limits);
      const end = (): void => note({ kind: 'end', device, name });
      // Tests look at the errors that matter to them.
      promise.then(end, end);
      return { progress, promise };
    },
    async answer(...names: string[]): Promise<void> {
      for (const name of names) {
        running.get(name)?.resolve(name);
        running.delete(name);
        await settled(3);
      }
    },
    async fail(name: string, code: ErrorCode): Promise<void> {
      running.get(name)?.reject(new DeviceCloudError(code, 'it failed'));
      running.delete(name);
      await settled(3);
    },
    pass: (seconds: number): Promise<void> => pass(seconds * 1000, 3),
    close(): void {
      void commands.close();
      queues.close();
    },
    /** What is kept: devices with an open channel, users of the list, timers, queues. */
    left: () => [channels.listeners.size, list.users.length, timers.size, queues.size],
  };
}

interface RunOptions {
  device?: string;
  expires?: number;
  signal?: AbortSignal | undefined;
  onProgress?: (progress: CallProgress) => void;
  what?: CommandWhat;
  replace?: boolean;
  node?: string;
  saved?: SavedCall;
}
