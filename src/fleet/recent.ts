/**
 * What each device of an application did of late: its last uploads and commands, for people who look at it. The beginning of an
 * upload is kept as the Base64 text that came in its frame, and decoded only to be shown.
 */
import { isUtf8 } from 'node:buffer';
import { isDeviceCloudError, type ErrorCode } from '../errors';
import type { Charset, Upload } from '../types';
import { uploadText } from '../util/decode';
import { oneLine } from '../util/show';
import { thrownText } from '../util/thrown';
import type { LatestSource } from './latest';
import type { Counters } from './metrics';

/** Uploads, and commands, that are kept of a device. */
export const MOST = 20;

/** Devices of which something is kept: above that, the one that was first known is forgotten. */
export const MOST_DEVICES = 10_000;

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
  /** All of what was uploaded; left out if that is more than some 800 bytes. */
  body?: Buffer;
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

/** What is kept of an upload: the beginning in Base64 in place of the text. */
type UploadEntry = Omit<RecentUpload, 'text' | 'body'> & { readonly base64: string };

/** Of one device, the oldest first. */
interface DeviceEntries {
  readonly uploads: UploadEntry[];
  readonly commands: RecentCommand[];
}

/** Adds the newest, and drops the oldest where there are too many. */
function push<T>(entries: T[], entry: T): void {
  entries.push(entry);
  if (entries.length > MOST) entries.shift();
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

/** The last uploads and commands of each device of an application. */
export class RecentActivity {
  readonly #now: () => number;
  readonly #counters: Counters;
  readonly #onAnswered: (chipid: string) => void;
  readonly #devices = new Map<string, DeviceEntries>();

  /** @param onAnswered is called when the service has answered a call to a device */
  constructor(now: () => number, counters: Counters, onAnswered: (chipid: string) => void) {
    this.#now = now;
    this.#counters = counters;
    this.#onAnswered = onAnswered;
  }

  /** An upload has come. @param at now @param base64 all of it, as it came in its frame, if that is known */
  upload(
    { chipid, body, timestamp }: Upload,
    source: LatestSource,
    at: number,
    base64?: string,
  ): void {
    const isShort = base64 !== undefined && base64.length <= LONGEST_BASE64;
    push(this.#entriesOf(chipid).uploads, {
      at: source === 'live' ? at : timestamp,
      // A copy of its own: a slice of the text would keep all of it in memory.
      base64: isShort ? base64 : body.toString('base64', 0, LONGEST_BYTES),
      size: body.length,
      source,
    });
  }

  /**
   * A command to a device was called.
   * @param path of its request, or what stands for it: `pulse/…`, `channel/`, `request/`
   * @param outcome what the caller gets, which is returned
   */
  command<T>(chipid: string, path: string, outcome: Promise<T>): Promise<T> {
    const at = this.#now();
    const entry: RecentCommand = { at, ...commandOf(path), outcome: null, took: null };
    push(this.#entriesOf(chipid).commands, entry);
    const end = (ended: NonNullable<RecentCommand['outcome']>, message?: string): void => {
      this.#counters.command(entry.kind, ended);
      entry.took = this.#now() - at;
      entry.outcome = ended;
      if (message !== undefined) entry.message = oneLine(message, LONGEST_MESSAGE);
    };
    outcome.then(
      () => {
        end('OK');
        // A push over the channel is not answered, and a reply is an upload.
        if (entry.kind !== 'channel' && entry.kind !== 'request') this.#onAnswered(chipid);
      },
      (error: unknown) =>
        isDeviceCloudError(error)
          ? end(error.code, error.message)
          : end('ERROR', thrownText(error)),
    );
    return outcome;
  }

  /** @param charset of text that is not valid UTF-8 */
  of(chipid: string, charset: Charset): Recent {
    const { uploads, commands } = this.#devices.get(chipid) ?? { uploads: [], commands: [] };
    return {
      uploads: uploads.toReversed().map(({ at, base64, size, source }) => {
        const isWhole = base64.length * 3 >= size * 4;
        const text = shortText(base64, isWhole, LONGEST_TEXT, charset);
        return { at, text, size, source, ...(isWhole && { body: Buffer.from(base64, 'base64') }) };
      }),
      commands: commands.toReversed().map((command) => ({ ...command })),
    };
  }

  /** The device is no longer known. */
  forget(chipid: string): void {
    this.#devices.delete(chipid);
  }

  #entriesOf(chipid: string): DeviceEntries {
    const known = this.#devices.get(chipid);
    if (known) return known;
    const device = { uploads: [], commands: [] };
    this.#devices.set(chipid, device);
    if (this.#devices.size > MOST_DEVICES) {
      const [first = chipid] = this.#devices.keys();
      this.#devices.delete(first);
    }
    return device;
  }
}
