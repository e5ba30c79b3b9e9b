/**
 * What each device of an application did of late: its last uploads and commands, for people who look at it. The beginning of an
 * upload is kept as the Base64 text that came in its frame, and decoded only to be shown.
 */
import type { ErrorCode } from '../errors';
import type { Charset, Upload } from '../types';
import { uploadText } from '../util/decode';
import { oneLine } from '../util/show';
import type { LatestSource } from './latest';

/** Uploads, and commands, that are kept of a device. */
export const MOST = 20;

/** Characters of an upload that are shown. */
export const LONGEST_TEXT = 200;

/** How many characters of Base64 encode a number of bytes. */
const base64Length = (bytes: number): number => Math.ceil(bytes / 3) * 4;

/** A character of the text has at most four bytes. */
const LONGEST_BASE64 = base64Length(4 * LONGEST_TEXT);
const LONGEST_BYTES = (LONGEST_BASE64 / 4) * 3;

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

/** Adds the newest, and drops the oldest where there are too many. */
function push<T>(entries: T[], entry: T): void {
  entries.push(entry);
  if (entries.length > MOST) entries.shift();
}

/** The text of the beginning of bytes, whose last character may be cut off; undefined if it is no text. */
function beginningText(bytes: Buffer, charset: Charset): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, {
      stream: true,
    });
  } catch {
    return uploadText(bytes, charset) ?? uploadText(bytes.subarray(0, -1), charset);
  }
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
  const known = isAll ? uploadText(bytes, charset) : beginningText(bytes, charset);
  const text = known ?? `0x${bytes.toString('hex')}`;
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

/** The last uploads and commands of a device. */
export class RecentActivity {
  readonly #uploads: UploadEntry[] = [];
  readonly #commands: RecentCommand[] = [];

  /** An upload has come. @param at now @param base64 all of it, as it came in its frame, if that is known */
  upload({ body, timestamp }: Upload, source: LatestSource, at: number, base64?: string): void {
    const isShort = base64 !== undefined && base64.length <= LONGEST_BASE64;
    push(this.#uploads, {
      at: source === 'live' ? at : timestamp,
      // A copy of its own: a slice of the text would keep all of it in memory.
      base64: isShort ? base64 : body.toString('base64', 0, LONGEST_BYTES),
      size: body.length,
      source,
    });
  }

  /** A command was called. @param command is changed when it ends */
  command(command: RecentCommand): void {
    push(this.#commands, command);
  }

  /** @param charset of text that is not valid UTF-8 */
  shown(charset: Charset): Recent {
    return {
      uploads: this.#uploads.toReversed().map(({ at, base64, size, source }) => {
        const isWhole = base64.length * 3 >= size * 4;
        const text = shortText(base64, isWhole, LONGEST_TEXT, charset);
        return { at, text, size, source, ...(isWhole && { body: Buffer.from(base64, 'base64') }) };
      }),
      commands: this.#commands.toReversed().map((command) => ({ ...command })),
    };
  }
}
