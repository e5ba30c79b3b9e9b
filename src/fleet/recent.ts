/**
 * What each device of an application did of late: its last uploads and commands, for people who look at it. It costs each
 * upload one small object: the body is kept as the Base64 text that came in its frame, and decoded only to be shown.
 * Of a long one only the beginning is copied, so that it does not keep the rest in memory.
 */
import { isUtf8 } from 'node:buffer';
import { isDeviceCloudError, type ErrorCode } from '../errors';
import type { Charset, Upload } from '../types';
import { uploadText } from '../util/decode';
import { LinkedList, type Linked } from '../util/linked-list';
import { oneLine } from '../util/show';
import { thrownText } from '../util/thrown';
import type { LatestSource } from './latest';

/** Uploads, and commands, that are kept of a device. */
export const MOST = 20;

/** Bytes that are kept of all devices of an application: above that, each in turn forgets its oldest. */
export const MAX_BYTES = 16 * 1024 * 1024;

/** Bytes of an upload and of a command besides their texts, as measured. */
const UPLOAD = 130;
const COMMAND = 210;

/** Characters of an upload that are shown. */
export const LONGEST_TEXT = 200;

/** How many characters of Base64 encode a number of bytes. */
const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** A character of the text has at most four bytes. */
const LONGEST_BASE64 = base64Length(4 * LONGEST_TEXT);
const LONGEST_BYTES = (LONGEST_BASE64 / 4) * 3;
const LONGEST_MESSAGE = 500;

/** An upload as it is shown. */
export interface RecentUpload {
  /** When it came, in ms by this clock; if it did not come live, when it was uploaded, by the service's clock. */
  at: number;
  /** The beginning of what was uploaded, on one line; `0x` and hexadecimal if it is not text. */
  text: string;
  /** Bytes of what was uploaded. */
  size: number;
  /** How it came. */
  source: LatestSource;
}

/** What a command does. */
export type CommandKind =
  | 'push'
  | 'channel'
  | 'request'
  | 'gpio'
  | 'pulse'
  | 'gpio-status'
  | 'rt-status'
  | 'refresh'
  | 'reboot';

/** A command to a device, without what it sends. */
export interface RecentCommand {
  /** When it was called, in ms by this clock. */
  at: number;
  kind: CommandKind;
  /** Of `gpio` and `pulse`. */
  pin?: number;
  level?: number;
  /** `OK`, or the code of its error; null while it waits or runs. */
  outcome: 'OK' | ErrorCode | 'ERROR' | null;
  /** If it failed: what happened, and what to do. */
  message?: string;
  /** Milliseconds from the call to its end; null before. */
  took: number | null;
}

/** What a device did of late, the newest first. */
export interface Recent {
  uploads: RecentUpload[];
  commands: RecentCommand[];
}

/** What is kept of an upload. Plain fields, since there may be 80,000. */
class UploadEntry {
  at = 0;
  /** The beginning in Base64. */
  text = '';
  size = 0;
  source: LatestSource = 'live';

  /** Computed without its text, which the processor no longer has in its cache. */
  get bytes(): number {
    return UPLOAD + Math.min(base64Length(this.size), LONGEST_BASE64);
  }

  /** It is no longer kept. @returns whether this object may be used again */
  forget(): boolean {
    return true;
  }
}

/** What is kept of a command. */
class CommandEntry {
  at = 0;
  path = '';
  outcome: RecentCommand['outcome'] = null;
  message: string | undefined = undefined;
  ended = 0;
  isForgotten = false;

  get bytes(): number {
    return COMMAND + this.path.length + (this.message?.length ?? 0);
  }

  /** It is no longer kept. @returns whether this object may be used again: not while the command runs */
  forget(): boolean {
    this.isForgotten = this.outcome === null;
    return !this.isForgotten;
  }
}

/** The last entries of a device of one kind. */
class Ring<Entry extends UploadEntry | CommandEntry> {
  /** The oldest is at `start`; after the last place comes the first. */
  readonly entries: (Entry | undefined)[] = [];
  readonly Entry: new () => Entry;
  start = 0;
  length = 0;

  constructor(Entry: new () => Entry) {
    this.Entry = Entry;
  }

  /** The newest first. */
  list(): Entry[] {
    const entries: Entry[] = [];
    for (let age = this.length - 1; age >= 0; age--) {
      const entry = this.entries[(this.start + age) % MOST];
      if (entry) entries.push(entry);
    }
    return entries;
  }

  /** Takes the oldest out. @returns its bytes */
  shift(): number {
    const entry = this.entries[this.start];
    this.entries[this.start] = undefined;
    this.start = (this.start + 1) % MOST;
    this.length--;
    entry?.forget();
    return entry?.bytes ?? 0;
  }
}

class DeviceEntries implements Linked<DeviceEntries> {
  readonly chipid: string;
  readonly uploads = new Ring(UploadEntry);
  readonly commands = new Ring(CommandEntry);
  previous: DeviceEntries | undefined = undefined;
  next: DeviceEntries | undefined = undefined;

  constructor(chipid: string) {
    this.chipid = chipid;
  }
}

/** The bytes without a character of UTF-8 at their end that may have been cut off. */
function withoutCutCharacter(bytes: Buffer): Buffer {
  let last = bytes.length - 1;
  while (last > 0 && last > bytes.length - 4 && ((bytes[last] ?? 0) & 0xc0) === 0x80) last--;
  return bytes.subarray(0, (bytes[last] ?? 0) >= 0xc0 ? last : bytes.length);
}

/**
 * The beginning of what was uploaded, on one line; `0x` and hexadecimal if it is not text.
 * @param base64 what was uploaded, or at least `4/3` of four bytes for each character of its beginning
 * @param isWhole whether that is all
 * @param longest characters
 */
export function shortText(
  base64: string,
  isWhole: boolean,
  longest: number,
  charset: Charset,
): string {
  const length = base64Length(4 * longest);
  const isAll = isWhole && base64.length <= length;
  const bytes = Buffer.from(isAll ? base64 : base64.slice(0, length), 'base64');
  const whole = isAll ? bytes : withoutCutCharacter(bytes);
  const text = isUtf8(whole)
    ? whole.toString('utf8')
    : (uploadText(bytes, charset) ??
      (isAll ? undefined : uploadText(bytes.subarray(0, -1), charset)) ??
      `0x${bytes.toString('hex')}`);
  const line = text.replace(/\s+/g, ' ').trim();
  if (isAll && line.length <= longest) return oneLine(line, longest);
  return `${oneLine(line.slice(0, longest - 1), longest)}…`;
}

const PATHS: readonly (readonly [path: RegExp, kind: CommandKind])[] = [
  [/^dev\/push\//, 'push'],
  [/^set_gpio_edge\//, 'gpio'],
  [/^gpio_status\//, 'gpio-status'],
  [/^rt_status\//, 'rt-status'],
  [/^manual_refresh\//, 'refresh'],
  [/^reboot\//, 'reboot'],
  [/^pulse\//, 'pulse'],
  [/^channel\//, 'channel'],
];

/** What a command does, by the path of its request, or what stands for it. */
export function commandOf(command: string): Pick<RecentCommand, 'kind' | 'pin' | 'level'> {
  const kind = PATHS.find(([path]) => path.test(command))?.[1] ?? 'request';
  const [, pin, level] = /\/(\d+)\/([01])\/$/.exec(command) ?? [];
  const isLevel = kind === 'gpio' || kind === 'pulse';
  return isLevel && pin !== undefined ? { kind, pin: Number(pin), level: Number(level) } : { kind };
}

function toCommand({ at, path, outcome, message, ended }: CommandEntry): RecentCommand {
  return {
    ...{ at, ...commandOf(path), outcome, took: outcome === null ? null : ended - at },
    ...(message === undefined ? {} : { message }),
  };
}

/** The last uploads and commands of each device of an application. */
export class RecentActivity {
  readonly #now: () => number;
  readonly #most: number;
  readonly #devices = new Map<string, DeviceEntries>();
  /** The same devices: the first is the next to forget its oldest entry. */
  readonly #turns = new LinkedList<DeviceEntries>();
  #bytes = 0;

  /** @param most bytes for all devices together */
  constructor(now: () => number, most = MAX_BYTES) {
    this.#now = now;
    this.#most = most;
  }

  /** Bytes that are kept, about. */
  get bytes(): number {
    return this.#bytes;
  }

  /** An upload has come. @param at now @param base64 all of it, as it came in its frame, if that is known */
  upload(
    { chipid, body, timestamp }: Upload,
    source: LatestSource,
    at: number,
    base64?: string,
  ): void {
    const isShort = base64 !== undefined && base64.length <= LONGEST_BASE64;
    // A copy of its own: a slice of the text would keep all of it in memory.
    const text = isShort ? base64 : body.toString('base64', 0, LONGEST_BYTES);
    const { uploads } = this.#entriesOf(chipid);
    const entry = this.#newest(uploads);
    entry.at = source === 'live' ? at : timestamp;
    entry.text = text;
    entry.size = body.length;
    entry.source = source;
    this.#count(entry.bytes);
  }

  /**
   * A command to a device was called.
   * @param path of its request, or what stands for it: `pulse/…`, `channel/`, `request/`
   * @param outcome what the caller gets, which is returned
   */
  command<T>(chipid: string, path: string, outcome: Promise<T>): Promise<T> {
    const { commands } = this.#entriesOf(chipid);
    const entry = this.#newest(commands);
    entry.at = this.#now();
    entry.path = path;
    entry.outcome = null;
    entry.message = undefined;
    this.#count(entry.bytes);
    outcome.then(
      () => this.#end(entry, 'OK', undefined),
      (error: unknown) =>
        isDeviceCloudError(error)
          ? this.#end(entry, error.code, error.message)
          : this.#end(entry, 'ERROR', thrownText(error)),
    );
    return outcome;
  }

  /** @param charset of text that is not valid UTF-8 */
  of(chipid: string, charset: Charset): Recent {
    const device = this.#devices.get(chipid);
    const uploads = device?.uploads.list() ?? [];
    return {
      uploads: uploads.map(({ at, text, size, source }) => ({
        ...{ at, size, source },
        text: shortText(text, text.length * 3 >= size * 4, LONGEST_TEXT, charset),
      })),
      commands: (device?.commands.list() ?? []).map(toCommand),
    };
  }

  /** The device is no longer known. */
  forget(chipid: string): void {
    const device = this.#devices.get(chipid);
    if (!device) return;
    while (device.uploads.length + device.commands.length > 0) this.#forgetOldest(device);
  }

  #entriesOf(chipid: string): DeviceEntries {
    const known = this.#devices.get(chipid);
    if (known) return known;
    const device = new DeviceEntries(chipid);
    this.#devices.set(chipid, device);
    this.#turns.add(device);
    return device;
  }

  /** Where a ring is full, the oldest entry becomes the newest: a new object each would cost twice as much CPU. */
  #newest<Entry extends UploadEntry | CommandEntry>(ring: Ring<Entry>): Entry {
    const place = (ring.start + ring.length) % MOST;
    if (ring.length < MOST) ring.length++;
    else {
      const oldest = ring.entries[place] as Entry;
      this.#bytes -= oldest.bytes;
      ring.start = (place + 1) % MOST;
      if (oldest.forget()) return oldest;
    }
    return (ring.entries[place] = new ring.Entry());
  }

  #end(entry: CommandEntry, outcome: RecentCommand['outcome'], message: string | undefined): void {
    if (entry.isForgotten) return;
    entry.ended = this.#now();
    entry.outcome = outcome;
    if (message === undefined) return;
    entry.message = oneLine(message, LONGEST_MESSAGE);
    this.#count(entry.message.length);
  }

  /** Counts bytes. If they are too many, each device in turn forgets its oldest upload or command. */
  #count(bytes: number): void {
    this.#bytes += bytes;
    while (this.#bytes > this.#most) {
      const device = this.#turns.first as DeviceEntries;
      this.#turns.remove(device);
      this.#turns.add(device);
      this.#forgetOldest(device);
    }
  }

  /** Forgets the oldest upload or the oldest command, whichever the device has more of. */
  #forgetOldest(device: DeviceEntries): void {
    const { chipid, uploads, commands } = device;
    this.#bytes -= (uploads.length < commands.length ? commands : uploads).shift();
    if (uploads.length + commands.length > 0) return;
    this.#devices.delete(chipid);
    this.#turns.remove(device);
  }
}
