import { isUtf8 } from 'node:buffer';
import type { WriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import type { HttpAnswer, UnsignedRequest } from '../http/answer';
import type { CallObserver, ObservedCall } from '../http/exchange';
import { invalidInput } from '../errors';
import { parseChipid, parseChipids } from '../input/chipid';
import type { Upload } from '../types';
import { parseJson } from '../util/json';
import { isObject } from '../util/object';
import { show } from '../util/show';
import { Cleaner } from './clean';
import {
  FORMAT,
  VERSION,
  type CallLine,
  type ChannelLine,
  type EndReason,
  type ListedDevice,
  type ListLine,
  type Outcome,
  type RecordingHeader,
} from './read';

/** Bytes of the longest recording, and milliseconds. */
export const MAX_BYTES = 500_000_000;
export const MAX_DURATION = 86_400_000;
/** Bytes that are kept for the last lines. */
const RESERVE = 1000;
/** Bytes that wait to be written at most: a frame has 16 MiB. What comes beyond is dropped. */
const MAX_WAITING = 32 * 2 ** 20;
/** Milliseconds for which lines are collected, to be written at once. */
const COLLECT = 250;
/** Bytes of the longest answer that is recorded. */
const MAX_ANSWER = 1024 * 1024;
/** Ids of recovered uploads that are remembered, so that two listeners of a device make one line. */
const MAX_RECOVERED = 100_000;

/** What is recorded, and for how long. */
export interface RecordOptions {
  /** Milliseconds, at most a day; default: a day. */
  duration?: number;
  /** Only these devices; default: all. */
  chipids?: readonly (number | string)[];
  /** Whether chip numbers and names are replaced; default false. */
  anonymous?: boolean;
  /** Is called when the recording has ended and is written. */
  onEnd?: (state: RecordingState) => void;
}

/** A recording that was begun. */
export interface RecordingState {
  readonly path: string;
  /** When it began and when it ends at the latest, in ms since 1970. */
  readonly since: number;
  readonly until: number;
  /** Bytes of the file, lines that are yet to be written included. */
  readonly bytes: number;
  readonly uploads: number;
  /** Lines that were left out, since the disk was too slow. */
  readonly dropped: number;
  /** Why it has ended; undefined while it runs. */
  readonly ended?: EndReason;
  /** Why it has failed, without a secret. */
  readonly problem?: string;
}

/** A recording that runs, or has ended. */
export interface RunningRecording {
  readonly state: RecordingState;
  /** Ends it. @returns a promise that resolves when the file is written; it never rejects */
  stop(): Promise<void>;
}

/** A device as the fleet knows it when a recording begins. */
export interface KnownDevice {
  chipid: string;
  name: string | undefined;
  /** Null before a list was read. */
  listed: boolean | null;
  isConnected: boolean;
}

export interface Recorded {
  /** Keys, passwords, and the hosts of addresses. */
  secrets: readonly string[];
  devices: () => Iterable<KnownDevice>;
  /** Is called when nothing more is to be recorded. */
  detach: () => void;
}

/** The device that a path of the open API names. */
const DEVICE_PATH =
  /^((?:up_messages\/dev|push_messages\/dev|reboot\/dev|rt_status|gpio_status|set_gpio_edge|manual_refresh)\/)(\d{1,20})(?=\/)/;
const LISTS = new Set(['apps/', 'devices/list/', 'devices/lists/']);

/** Records what the channels and calls of an application carry. */
export class Recorder implements CallObserver {
  readonly #path: string;
  readonly #recorded: Recorded;
  readonly #options: RecordOptions;
  readonly #duration: number;
  readonly #chipids: ReadonlySet<string> | undefined;
  readonly #cleaner: Cleaner;
  #since = 0;
  /** By a clock that is never set. */
  #start = 0;
  #file!: WriteStream;
  #bytes = 0;
  #uploads = 0;
  #dropped = 0;
  /** Of them, those that no line says yet. */
  #unsaid = 0;
  #collectTimer: NodeJS.Timeout | undefined;
  #endTimer: NodeJS.Timeout | undefined;
  #ended: EndReason | undefined;
  #problem: string | undefined;
  #closing: Promise<void> | undefined;
  readonly #recovered = new Set<string>();

  /** @throws DeviceCloudError `INVALID_INPUT` */
  constructor(path: string, options: RecordOptions, recorded: Recorded) {
    if (typeof path !== 'string' || path === '')
      throw invalidInput(`The path of a recording must be text, but is ${show(path)}.`);
    const { duration = MAX_DURATION, chipids, anonymous = false } = options;
    if (!(typeof duration === 'number' && duration >= 1 && duration <= MAX_DURATION))
      throw invalidInput('The duration of a recording must be from 1 ms to 24 hours.');
    this.#path = path;
    this.#options = options;
    this.#duration = duration;
    this.#chipids = chipids && new Set(parseChipids(chipids));
    this.#cleaner = new Cleaner(recorded.secrets, anonymous);
    this.#recorded = recorded;
  }

  get state(): RecordingState {
    return {
      path: this.#path,
      since: this.#since,
      until: this.#since + this.#duration,
      bytes: this.#bytes,
      uploads: this.#uploads,
      dropped: this.#dropped,
      ...(this.#ended && { ended: this.#ended }),
      ...(this.#problem !== undefined && { problem: this.#problem }),
    };
  }

  /** Begins. @throws DeviceCloudError `INVALID_INPUT` if the file exists, or cannot be made */
  async begin(): Promise<void> {
    try {
      this.#file = (await open(this.#path, 'wx', 0o600)).createWriteStream();
    } catch (error) {
      throw invalidInput(`The recording ${this.#path} cannot be made: ${codeOf(error)}.`);
    }
    this.#file.on('error', (error) => {
      this.#problem ??= `The recording could not be written any more: ${codeOf(error)}.`;
      void this.end('failed');
    });
    this.#since = Date.now();
    this.#start = performance.now();
    const header: RecordingHeader = {
      format: FORMAT,
      version: VERSION,
      started: this.#since,
      anonymous: this.#options.anonymous === true,
      ...(this.#chipids && {
        chipids: [...this.#chipids].map((each) => this.#cleaner.chipid(each)),
      }),
    };
    this.#append(`${JSON.stringify(header)}\n`);
    this.#recordKnown();
    this.#endTimer = setTimeout(
      () => void this.end(this.#duration === MAX_DURATION ? 'time-limit' : 'duration'),
      this.#duration,
    ).unref();
  }

  /** Ends it. @returns a promise that resolves when it is written; it never rejects */
  end(reason: EndReason): Promise<void> {
    if (this.#closing) return this.#closing;
    this.#ended = reason;
    this.#recorded.detach();
    clearTimeout(this.#endTimer);
    this.#sayDropped();
    const { uploads, dropped } = this.state;
    const end = { t: this.#now(), kind: 'end', reason, uploads, dropped };
    this.#append(`${JSON.stringify(end)}\n`);
    this.#closing = this.#close();
    return this.#closing;
  }

  /** An upload has come live. @param base64 its bytes, if they are at hand in that form */
  onLive(upload: Upload, base64 = upload.body.toString('base64')): void {
    this.#upload(upload, base64);
  }

  /** An upload that was missed was recovered, for one of the listeners of its device. */
  onRecovered(upload: Upload): void {
    const { chipid, id } = upload;
    if (id !== undefined) {
      const key = `${chipid}/${id}`;
      if (this.#recovered.has(key)) return;
      if (this.#recovered.size === MAX_RECOVERED) this.#recovered.clear();
      this.#recovered.add(key);
    }
    this.#upload(upload, upload.body.toString('base64'));
  }

  onChannel(chipid: string, state: ChannelLine['state'], reason?: string): void {
    if (!this.#has(chipid)) return;
    const said = reason === undefined ? {} : { reason: this.#cleaner.text(reason) };
    this.#add({ kind: 'channel', chipid: this.#cleaner.chipid(chipid), state, ...said });
  }

  onFault(chipid: string, fault: string): void {
    if (!this.#has(chipid)) return;
    const text = this.#cleaner.text(fault, chipid);
    this.#add({ kind: 'fault', chipid: this.#cleaner.chipid(chipid), text });
  }

  onPush(chipid: string, bytes: Buffer): void {
    if (!this.#has(chipid)) return;
    const body = (this.#cleaner.bytes(bytes, chipid) ?? bytes).toString('base64');
    this.#add({ kind: 'push', chipid: this.#cleaner.chipid(chipid), body });
  }

  onCall(request: UnsignedRequest): ObservedCall | undefined {
    const chipid = request.params?.['devid'] ?? DEVICE_PATH.exec(request.path)?.[2];
    const isList = LISTS.has(request.path);
    // What is not about one device may be about others.
    const isAbout = chipid === undefined ? this.#chipids === undefined : this.#has(chipid);
    if (!isList && !isAbout && request.path !== 'app/push/message/') return undefined;
    const start = performance.now();
    return {
      ended: (answer, code) => {
        if (this.#ended) return;
        try {
          const ms = Math.round(performance.now() - start);
          const outcome = { ms, ...this.#outcome(answer, code, isList, chipid) };
          this.#add(
            isList
              ? { kind: 'list', path: request.path, ...outcome }
              : this.#call(request, chipid, outcome),
          );
        } catch {
          // Too deep, for example. The call itself reports its answer.
        }
      },
    };
  }

  #call(
    request: UnsignedRequest,
    chipid: string | undefined,
    outcome: Outcome,
  ): Omit<CallLine, 't'> {
    const { method, path, params, query, body } = request;
    const cleaner = this.#cleaner;
    const device = chipid === undefined ? undefined : cleaner.chipid(chipid);
    return {
      kind: 'call',
      method,
      // Its number is no text: it may be too short to be looked for.
      path: cleaner.text(path.replace(DEVICE_PATH, '$1\0')).replace('\0', device ?? ''),
      ...(params && { params: cleaner.params(params, chipid) }),
      ...(query ? { query: cleaner.text(query) } : {}),
      ...(body === undefined ? {} : { body: cleaner.value(parseJson(body)) }),
      ...(device === undefined ? {} : { chipid: device }),
      ...outcome,
    };
  }

  #outcome(
    answer: HttpAnswer | undefined,
    code: string | undefined,
    isList: boolean,
    chipid: string | undefined,
  ): Omit<Outcome, 'ms'> & Pick<ListLine, 'devices'> {
    const error = code === undefined ? {} : { code };
    if (!answer) return error;
    const outcome = { status: answer.statusCode, ...error };
    const { body, encoding, reader } = answer;
    if (reader || encoding !== undefined) return outcome;
    if (isList && code === undefined)
      return { ...outcome, devices: this.#devices(parseJson(body)) };
    if (body.length > MAX_ANSWER) return outcome;
    try {
      return { ...outcome, answer: this.#cleaner.value(parseJson(body), chipid) };
    } catch {
      if (isUtf8(body)) return { ...outcome, text: this.#cleaner.text(body.toString(), chipid) };
      return { ...outcome, base64: (this.#cleaner.bytes(body, chipid) ?? body).toString('base64') };
    }
  }

  /** The devices of a list: these fields alone, since it has their keys. */
  #devices(list: unknown): ListedDevice[] {
    const records: unknown = isObject(list) ? list['online'] : list;
    if (!Array.isArray(records)) return [];
    return records.flatMap((record: unknown): ListedDevice[] => {
      if (!isObject(record)) return [];
      try {
        const chipid = parseChipid(record['chipid']);
        if (!this.#has(chipid)) return [];
        const { name, vertype, latest } = record;
        this.#cleaner.learnDevkey(chipid, record['devkey']);
        return [
          {
            chipid: this.#cleaner.chipid(chipid),
            name: this.#cleaner.name(name),
            ...(typeof vertype === 'number' && { vertype }),
            ...(typeof latest === 'string' && { latest: this.#cleaner.text(latest.slice(0, 40)) }),
          },
        ];
      } catch {
        return [];
      }
    });
  }

  /** What is known at the start, as if it happened then. */
  #recordKnown(): void {
    const known = [...this.#recorded.devices()].filter(({ chipid }) => this.#has(chipid));
    const listed = known.filter((each) => each.listed === true);
    if (known.some((each) => each.listed !== null)) {
      const devices = listed.map(({ chipid, name }) => ({
        chipid: this.#cleaner.chipid(chipid),
        name: this.#cleaner.name(name),
      }));
      this.#add({ kind: 'list', ms: 0, devices });
    }
    for (const { chipid, isConnected } of known)
      if (isConnected) this.onChannel(chipid, 'connected');
  }

  /** Written out, not by JSON.stringify, since there may be thousands a second: Base64 needs no escapes. */
  #upload({ chipid, body, timestamp, type, replayed }: Upload, base64: string): void {
    if (!this.#has(chipid)) return;
    const clean = this.#cleaner.bytes(body, chipid);
    const data = clean ? clean.toString('base64') : base64;
    const more =
      (type === undefined ? '' : `,"type":${JSON.stringify(this.#cleaner.text(type))}`) +
      (replayed ? ',"replayed":true' : '');
    const line =
      `{"t":${this.#now()},"kind":"upload","chipid":"${this.#cleaner.chipid(chipid)}",` +
      `"timestamp":${timestamp},"body":"${data}"${more}}\n`;
    if (this.#take(line)) this.#uploads++;
  }

  #has(chipid: string): boolean {
    return this.#chipids === undefined || this.#chipids.has(chipid);
  }

  #now(): number {
    return Math.round(performance.now() - this.#start);
  }

  #add(line: object): void {
    this.#take(`${JSON.stringify({ t: this.#now(), ...line })}\n`);
  }

  /** @returns whether a line is recorded */
  #take(line: string): boolean {
    if (this.#ended) return false;
    const waiting = this.#file.writableLength;
    if (waiting + line.length > MAX_WAITING && waiting > 0) {
      this.#dropped++;
      this.#unsaid++;
      return false;
    }
    if (this.#bytes + Buffer.byteLength(line) > MAX_BYTES - RESERVE) {
      void this.end('size-limit');
      return false;
    }
    this.#sayDropped();
    this.#append(line);
    return true;
  }

  #sayDropped(): void {
    if (this.#unsaid === 0) return;
    this.#append(`${JSON.stringify({ t: this.#now(), kind: 'dropped', lines: this.#unsaid })}\n`);
    this.#unsaid = 0;
  }

  #append(line: string): void {
    this.#bytes += Buffer.byteLength(line);
    if (this.#collectTimer === undefined) {
      this.#file.cork();
      this.#collectTimer = setTimeout(() => {
        this.#collectTimer = undefined;
        this.#file.uncork();
      }, COLLECT);
    }
    this.#file.write(line);
  }

  async #close(): Promise<void> {
    clearTimeout(this.#collectTimer);
    this.#file.end();
    await finished(this.#file).catch(() => undefined);
    try {
      this.#options.onEnd?.(this.state);
    } catch {
      // The caller's own.
    }
  }
}

const codeOf = (error: unknown): string =>
  isObject(error) && typeof error['code'] === 'string' ? error['code'] : 'unknown error';
