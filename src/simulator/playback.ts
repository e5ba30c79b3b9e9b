import { setTimeout as sleep } from 'node:timers/promises';
import { playOnce, type PlayedLine, type Scan } from '../recording/play';
import type { CallLine, ListedDevice, ListLine } from '../recording/read';
import { numberIn, readDevice } from './device-options';
import { Broken, RawBody, type Answer } from './http';
import type { PlayOptions } from './options';
import type { Called, Given, Played, Service } from './service';

/** A recording that is played. */
export interface Playing {
  /** `waiting`: for the first client; `failed`: the file could not be read any more. */
  readonly state: 'waiting' | 'playing' | 'ended' | 'failed';
  /** Uploads that were played, of all rounds. */
  readonly uploads: number;
  /** Lines of the file that could not be read. */
  readonly skipped: number;
  /** Resolves when it has ended or was stopped. @throws RecordingError if the file cannot be read any more */
  readonly done: Promise<void>;
  /** Ends it: the devices stay as they are. */
  stop(): void;
}

/** Milliseconds without a further channel after which it begins: a client opens them one after the other. */
const QUIET = 500;
/** Milliseconds for which uploads wait for a client whose channel was cut, and how many of a device. */
const AWAITED = 60_000;
const MAX_HELD = 1000;
/** Milliseconds that may be between two rounds of an empty recording. */
const ROUND = 100;
/** A close code that may be sent, in a reason (RFC 6455, section 7.4). */
const CLOSE_CODE = /^(?:100[0-37-9]|101[0-4]|[34]\d{3})$/;

function keyOf({ method, path, params, query = '', body = null }: Called): string {
  const own = params && Object.entries(params).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify([method, path, own ?? [query, body]]);
}

/** Plays a recording on the simulated service. */
export class Playback implements Playing, Played {
  state: Playing['state'] = 'waiting';
  uploads = 0;
  readonly skipped: number;
  readonly done: Promise<void>;
  readonly #service: Service;
  readonly #found: Scan;
  readonly #speed: number;
  readonly #loop: boolean;
  readonly #abort = new AbortController();
  #settle!: { resolve: () => void; reject: (error: unknown) => void };
  #quiet: (() => void) | undefined;
  #calls = new Map<string, CallLine[]>();
  #list: readonly ListedDevice[] | undefined;
  #listFault: ListLine | undefined;
  /** Why the channels of a device are refused. */
  readonly #down = new Map<string, string>();
  /** Devices whose clients were cut off and have not come back. */
  readonly #gone = new Set<string>();
  /** Devices whose clients are awaited, and their uploads. */
  readonly #awaited = new Map<string, (PlayedLine & { kind: 'upload' })[]>();
  readonly #silences = new Map<string, () => void>();

  constructor(service: Service, found: Scan, { speed = 1, loop = false }: PlayOptions) {
    this.#speed = numberIn('speed', speed, 0.01, 1000);
    this.#service = service;
    this.#found = found;
    this.#loop = loop;
    this.skipped = found.skipped;
    this.done = new Promise((resolve, reject) => (this.#settle = { resolve, reject }));
    // Whoever does not wait for the end learns from the state that it has failed.
    this.done.catch(() => undefined);
    for (const { chipid, name, vertype = 1 } of found.devices.values()) {
      const known = service.devices.get(chipid);
      if (known) known.name = name ?? known.name;
      else service.addDevice(readDevice({ chipid, name, vertype, interval: 0 }));
    }
    if (found.list) this.#setList(found.list);
  }

  /** The devices of the list as it was at this time; undefined if none was recorded. */
  get list(): readonly ListedDevice[] | undefined {
    return this.#list;
  }

  onClient(chipid?: string): void {
    if (chipid !== undefined) this.#flush(chipid);
    if (this.state !== 'waiting' || (chipid === undefined && this.#quiet)) return;
    this.#quiet?.();
    this.#quiet = this.#service.timers.after(QUIET, () => this.begin());
  }

  begin(): void {
    if (this.state !== 'waiting' || this.#abort.signal.aborted) return;
    this.state = 'playing';
    this.#run().then(
      () => this.#end('ended'),
      (error: unknown) => {
        if (this.#abort.signal.aborted) this.#end('ended');
        else this.#end('failed', error);
      },
    );
  }

  stop(): void {
    this.#quiet?.();
    this.#abort.abort();
    if (this.state === 'waiting') this.#end('ended');
  }

  refusal(chipid: string): number | undefined {
    const reason = this.#down.get(chipid);
    if (reason === undefined) return undefined;
    return /^[45]\d\d$/.test(reason) ? Number(reason) : 0;
  }

  answer(called: Called, signal: AbortSignal): Given | undefined {
    if (this.#listFault?.path === called.path) return this.#give(this.#listFault, signal);
    // One that comes after the end, since it was slower than in the recording, is the same call.
    const line = this.#calls.get(keyOf(called))?.shift();
    return line && this.#give(line, signal);
  }

  /** Without an answer that was recorded, a success is the simulator's to answer. */
  #give(line: CallLine | ListLine, signal: AbortSignal): Given | undefined {
    const { status, code } = line;
    const body = bodyOf(line);
    if (status !== undefined && body === undefined && code === undefined) return undefined;
    const wait = Math.min(line.ms / this.#speed, 2 ** 31 - 1);
    const answer = async (): Promise<Answer> => {
      // It hung until the client gave up.
      if (status === undefined && code === 'TIMEOUT')
        await sleep(2 ** 31 - 1, undefined, { signal });
      await sleep(wait, undefined, { signal });
      if (status === undefined) throw new Broken();
      return { status, body: body === undefined ? new RawBody('', 'application/json') : body.body };
    };
    return { isSuccess: code === undefined, answer: answer() };
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    do {
      this.#calls = new Map();
      for (const line of this.#found.calls) {
        const key = keyOf(line);
        const same = this.#calls.get(key);
        if (same) same.push(line);
        else this.#calls.set(key, [line]);
      }
      const began = performance.now();
      await playOnce(this.#found, this.#speed, (line) => this.#play(line), signal);
      for (const chipid of this.#down.keys()) this.#up(chipid);
      if (this.#loop && performance.now() - began < ROUND)
        await sleep(ROUND, undefined, { signal });
    } while (this.#loop);
  }

  #end(state: 'ended' | 'failed', error?: unknown): void {
    this.state = state;
    for (const lift of this.#silences.values()) lift();
    // Clients that are awaited still get what waits for them.
    this.#down.clear();
    if (state === 'failed') this.#settle.reject(error);
    else this.#settle.resolve();
  }

  #play(line: PlayedLine): void {
    if (line.kind === 'upload') {
      const waiting = this.#awaited.get(line.chipid);
      if (!waiting) this.#upload(line);
      else if (waiting.push(line) > MAX_HELD) this.#flush(line.chipid);
    } else if (line.kind === 'list') this.#setList(line);
    else if (line.kind === 'silence') this.#silence(line.chipid);
    else if (line.kind === 'fault') this.#spoil(line.chipid);
    else if (line.kind === 'channel') {
      if (line.state === 'connected') this.#up(line.chipid);
      else if (line.state === 'disconnected' && line.reason !== 'CLUSTER')
        this.#cut(line.chipid, line.reason ?? '1006');
    }
  }

  #upload({ chipid, body, type }: PlayedLine & { kind: 'upload' }): void {
    const device = this.#service.devices.get(chipid);
    if (!device) return;
    this.uploads++;
    const uart = type === 'uart_trans' ? { type: 'uart_trans' as const } : {};
    this.#service.upload(device, Buffer.from(body, 'base64'), uart);
  }

  #cut(chipid: string, reason: string): void {
    const { channels } = this.#service;
    // Only a client that was there can come back.
    if (channels.count(chipid) > 0 || this.#awaited.has(chipid)) this.#gone.add(chipid);
    // While it is away, uploads are in the history alone.
    this.#flush(chipid);
    this.#down.set(chipid, reason);
    this.#silences.get(chipid)?.();
    this.#silences.delete(chipid);
    if (CLOSE_CODE.test(reason)) channels.close(chipid, { code: Number(reason) });
    else channels.close(chipid, { terminate: true });
  }

  #up(chipid: string): void {
    this.#down.delete(chipid);
    // A channel that still counts was cut a moment ago: a new one was refused until now.
    if (!this.#gone.delete(chipid)) return;
    this.#awaited.set(chipid, []);
    this.#service.timers.after(AWAITED, () => this.#flush(chipid));
  }

  #flush(chipid: string): void {
    const waiting = this.#awaited.get(chipid);
    this.#awaited.delete(chipid);
    for (const line of waiting ?? []) this.#upload(line);
  }

  #setList(line: ListLine): void {
    if (!line.devices) {
      this.#listFault = line;
      return;
    }
    this.#listFault = undefined;
    this.#list = line.devices;
    const online = new Set(line.devices.map(({ chipid }) => chipid));
    for (const { chipid, name } of line.devices) {
      const device = this.#service.devices.get(chipid);
      if (device) device.name = name;
    }
    for (const chipid of this.#found.devices.keys()) {
      const device = this.#service.devices.get(chipid);
      if (online.has(chipid)) device?.wake();
      else device?.sleep();
    }
  }

  #silence(chipid: string): void {
    try {
      this.#silences.set(chipid, this.#service.faults.add('silence', { chipid }));
    } catch {
      // A thousand devices are silent already.
    }
  }

  #spoil(chipid: string): void {
    const { faults, channels, settings } = this.#service;
    const at = settings.now();
    try {
      const lift = faults.add('bad-json', { chipid });
      channels.announce({
        id: 0,
        chipid,
        bytes: Buffer.alloc(0),
        at,
        made: at,
        type: 'data_upload',
      });
      lift();
    } catch {
      // There are too many faults already.
    }
  }
}

function bodyOf({ answer, text, base64 }: CallLine | ListLine): { body: unknown } | undefined {
  if (answer !== undefined) return { body: answer };
  if (text !== undefined) return { body: new RawBody(text, 'text/html; charset=utf-8') };
  if (base64 === undefined) return undefined;
  return { body: new RawBody(Buffer.from(base64, 'base64'), 'text/html') };
}
