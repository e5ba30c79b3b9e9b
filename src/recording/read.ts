import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { decodeBase64 } from '../util/base64';
import { parseJson } from '../util/json';
import { isObject } from '../util/object';

/*
 * The format of recordings, and their reader: docs/inside/recording-format.md. A recording may come from anybody, so every
 * value is checked, and no line costs more than the longest that is written.
 */

/** The first property of a recording, and the version that is written and read. */
export const FORMAT = 'device-cloud-recording';
export const VERSION = 1;

export interface RecordingHeader {
  format: typeof FORMAT;
  version: typeof VERSION;
  /** When it began, in ms since 1970 by the clock of the machine that wrote it. */
  started: number;
  /** Whether chip numbers and names were replaced. */
  anonymous: boolean;
  /** Set if only these devices were recorded. */
  chipids?: string[];
}

interface Line {
  /** Milliseconds since the start; ascends from line to line. */
  t: number;
}

/** An upload, live or recovered. */
export interface UploadLine extends Line {
  kind: 'upload';
  chipid: string;
  /** The bytes in Base64. */
  body: string;
  /** Of the service, in ms since 1970. */
  timestamp: number;
  /** The type of its event, if that is not `data_upload`. */
  type?: string;
  /** Set if it was missed live, and recovered from the history. */
  replayed?: true;
}

/** A channel has changed its state; `closed`: its last listener has left. */
export interface ChannelLine extends Line {
  kind: 'channel';
  chipid: string;
  state: 'connected' | 'disconnected' | 'closed';
  /** Why it is disconnected, as a listener sees it. */
  reason?: string;
}

/** How an attempt of a call ended. One of `answer`, `text` and `base64` has the answer, unless it is too long. */
export interface Outcome {
  /** Milliseconds that it took until then. */
  ms: number;
  /** The HTTP status, if there was an answer. */
  status?: number;
  /** The code of the error, if it was one. */
  code?: string;
  /** The answer, if it is JSON; an integer that a number cannot hold is text. */
  answer?: unknown;
  /** The answer, if it is text. */
  text?: string;
  /** The answer, if it is neither. */
  base64?: string;
}

/** A call over HTTP: one line for each attempt. */
export interface CallLine extends Line, Outcome {
  kind: 'call';
  method: string;
  /** Below `/openapi/`; of the server API from `/api/server/` on. */
  path: string;
  /** Of the open API, without the common ones. */
  params?: Record<string, string>;
  /** Of the server API, percent-encoded. */
  query?: string;
  /** Of the server API: the JSON that was sent. */
  body?: unknown;
  /** The device, if the call is about one. */
  chipid?: string;
}

/** A device in a list. */
export interface ListedDevice {
  chipid: string;
  name: string | number | null;
  vertype?: number;
  latest?: string;
}

/** A reading of the list of online devices, without `devices` if it failed. */
export interface ListLine extends Line, Outcome {
  kind: 'list';
  /** The address that was read; the first list of a recording may be what was known at its start, without one. */
  path?: string;
  devices?: ListedDevice[];
}

/** A push over the channel. */
export interface PushLine extends Line {
  kind: 'push';
  chipid: string;
  /** The bytes in Base64. */
  body: string;
}

/** A frame that could not be read. */
export interface FaultLine extends Line {
  kind: 'fault';
  chipid: string;
  text: string;
}

/** Lines that were left out, since the disk was too slow. */
export interface DroppedLine extends Line {
  kind: 'dropped';
  lines: number;
}

/** Why a recording ended. */
export type EndReason = 'stopped' | 'duration' | 'time-limit' | 'size-limit' | 'closed' | 'failed';

/** The last line, unless the process was killed. */
export interface EndLine extends Line {
  kind: 'end';
  reason: EndReason;
  uploads: number;
  dropped: number;
}

export type RecordedLine =
  | UploadLine
  | ChannelLine
  | ListLine
  | CallLine
  | PushLine
  | FaultLine
  | DroppedLine
  | EndLine;

/** Bytes of the longest line that is read: a frame has at most 16 MiB. */
export const MAX_LINE = 17 * 2 ** 20;
/** Devices of a list that are read. */
const MAX_LISTED = 10_000;
/** Milliseconds of the longest time that is believed: no recording is longer than a day. */
const LONGEST = 10 * 86_400_000;
const NEWLINE = 0x0a;

/** A file that is no recording, or cannot be read. The message says which, and what to do. */
export class RecordingError extends Error {
  override readonly name = 'RecordingError';
}

const isChipid = (value: unknown): value is string =>
  typeof value === 'string' && /^(?:0|[1-9]\d{0,19})$/.test(value);

const isCount = (value: unknown): value is number =>
  Number.isSafeInteger(value) && Number(value) >= 0;

const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' && value.length <= longest;

const isStatus = (value: unknown): boolean =>
  value === undefined || (isCount(value) && value >= 200 && value <= 599);

const isTextOrNone = (value: unknown): boolean => value === undefined || typeof value === 'string';

const isOutcome = ({ ms, status, code, text, base64 }: Record<string, unknown>): boolean =>
  typeof ms === 'number' &&
  ms >= 0 &&
  ms <= LONGEST &&
  isStatus(status) &&
  (status !== undefined || code !== undefined) &&
  [code, text, base64].every(isTextOrNone);

function listed(value: unknown): ListedDevice | undefined {
  if (!isObject(value) || !isChipid(value['chipid'])) return undefined;
  const { chipid, name, vertype, latest } = value;
  const isName = isText(name, 200) || typeof name === 'number';
  return {
    chipid,
    name: isName ? name : null,
    ...(isCount(vertype) ? { vertype } : {}),
    ...(isText(latest, 100) ? { latest } : {}),
  };
}

/** Says of each kind whether the other fields of a line are valid. What is not in it is of a later version. */
const KINDS: Readonly<Record<RecordedLine['kind'], (line: Record<string, unknown>) => boolean>> = {
  upload: ({ chipid, body, timestamp, type, replayed }) =>
    isChipid(chipid) &&
    typeof body === 'string' &&
    decodeBase64(body) !== undefined &&
    isCount(timestamp) &&
    isTextOrNone(type) &&
    (replayed === undefined || replayed === true),
  channel: ({ chipid, state, reason }) =>
    isChipid(chipid) &&
    (state === 'connected' || state === 'disconnected' || state === 'closed') &&
    isTextOrNone(reason),
  list(line) {
    const { path, devices } = line;
    if (!isTextOrNone(path)) return false;
    if (devices === undefined) return isOutcome(line);
    if (!Array.isArray(devices)) return false;
    line['devices'] = devices.slice(0, MAX_LISTED).flatMap((each) => listed(each) ?? []);
    return true;
  },
  call(line) {
    const { method, path, params, query } = line;
    return (
      isText(method, 10) &&
      isText(path, 1000) &&
      isTextOrNone(query) &&
      (params === undefined ||
        (isObject(params) && Object.values(params).every((each) => typeof each === 'string'))) &&
      isOutcome(line)
    );
  },
  push: ({ chipid, body }) =>
    isChipid(chipid) && typeof body === 'string' && decodeBase64(body) !== undefined,
  fault: ({ chipid, text }) => isChipid(chipid) && isText(text, 1000),
  dropped: ({ lines }) => isCount(lines),
  end: ({ reason, uploads, dropped }) => isText(reason, 40) && isCount(uploads) && isCount(dropped),
};

const isKnown = (kind: unknown): kind is RecordedLine['kind'] =>
  typeof kind === 'string' && Object.hasOwn(KINDS, kind);

/** Cuts bytes into lines. A line that is too long is undefined, and never kept. */
class Lines {
  #parts: Buffer[] = [];
  #size = 0;

  /** The lines that end in a chunk. */
  *cut(chunk: Buffer): Generator<Buffer | undefined> {
    for (let from = 0; from < chunk.length;) {
      const end = chunk.indexOf(NEWLINE, from);
      this.#add(chunk.subarray(from, end === -1 ? chunk.length : end));
      if (end === -1) return;
      yield this.#size > MAX_LINE ? undefined : Buffer.concat(this.#parts);
      this.#parts = [];
      this.#size = 0;
      from = end + 1;
    }
  }

  #add(part: Buffer): void {
    this.#size += part.length;
    if (this.#size > MAX_LINE) this.#parts = [];
    else this.#parts.push(part);
  }
}

/** Reads a recording, as often as need be. */
export class Recording {
  readonly path: string;
  readonly header: RecordingHeader;
  /** Lines of the latest reading that were left out, since they are malformed or too long. */
  skipped = 0;

  private constructor(path: string, header: RecordingHeader) {
    this.path = path;
    this.header = header;
  }

  /** Opens a recording. @throws RecordingError if it cannot be read, or is no recording */
  static async open(path: string): Promise<Recording> {
    for await (const [first] of chunksOf(path))
      if (first) return new Recording(path, readHeader(path, first));
    throw notOne(path);
  }

  /**
   * Reads it from the start: one or more lines at a time. A last line without its end is left out:
   * its process was killed.
   * @throws RecordingError if it cannot be read any more
   */
  async *lines(): AsyncGenerator<RecordedLine[]> {
    this.skipped = 0;
    let last = 0;
    let isFirst = true;
    for await (const chunk of chunksOf(this.path)) {
      const lines: RecordedLine[] = [];
      for (const bytes of isFirst ? chunk.slice(1) : chunk) {
        const line = bytes && readLine(bytes);
        if (line === undefined) this.skipped++;
        else if (line !== 'unknown') {
          last = line.t = Math.max(last, line.t);
          lines.push(line);
        }
      }
      isFirst &&= chunk.length === 0;
      if (lines.length > 0) yield lines;
    }
  }
}

const notOne = (path: string): RecordingError =>
  new RecordingError(
    `${path} is no recording: its first line does not say so. Choose a file that was recorded in the sidebar.`,
  );

function readHeader(path: string, line: Buffer): RecordingHeader {
  let header: unknown;
  try {
    header = line.length < 1_000_000 ? parseJson(line) : undefined;
  } catch {
    // Not one.
  }
  if (!isObject(header) || header['format'] !== FORMAT) throw notOne(path);
  const { version, started, anonymous, chipids } = header;
  if (version !== VERSION) {
    throw new RecordingError(
      `${path} is a recording of version ${String(version).slice(0, 20)}, and this package reads version ${VERSION}. ` +
        'Install the latest version of the package.',
    );
  }
  return {
    format: FORMAT,
    version: VERSION,
    started: isCount(started) ? started : 0,
    anonymous: anonymous === true,
    ...(Array.isArray(chipids) ? { chipids: chipids.filter(isChipid) } : {}),
  };
}

/** @returns undefined if it is malformed */
function readLine(bytes: Buffer): RecordedLine | 'unknown' | undefined {
  let line: unknown;
  try {
    line = parseJson(bytes);
  } catch {
    return undefined;
  }
  if (!isObject(line)) return undefined;
  const { t, kind, chipid } = line;
  if (typeof kind === 'string' && !isKnown(kind)) return 'unknown';
  if (!isKnown(kind) || typeof t !== 'number' || !(t >= 0 && t <= LONGEST)) return undefined;
  if (chipid !== undefined && !isChipid(chipid)) return undefined;
  return KINDS[kind](line) ? (line as unknown as RecordedLine) : undefined;
}

/** The whole lines of a file, by the chunk in which they end; undefined for one that is too long. */
async function* chunksOf(path: string): AsyncGenerator<(Buffer | undefined)[]> {
  let file: FileHandle | undefined;
  try {
    // A pipe would be waited for until somebody writes to it.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    if (!(await file.stat()).isFile()) throw new RecordingError(`${path} is no file.`);
    const lines = new Lines();
    for await (const chunk of file.createReadStream()) yield [...lines.cut(chunk as Buffer)];
  } catch (error) {
    if (error instanceof RecordingError) throw error;
    const code = isObject(error) ? error['code'] : undefined;
    throw new RecordingError(
      code === 'ENOENT'
        ? `There is no file ${path}.`
        : `${path} cannot be read (${typeof code === 'string' ? code : 'unknown error'}).`,
    );
  } finally {
    await file?.close();
  }
}
