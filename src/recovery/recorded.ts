import { decodeBase64 } from '../util/base64';
import type { UploadRecord } from '../types';
import { isObject } from '../api/shapes';
import type { Upload } from '../channel/frames';
import type { Encoding } from './facts';
import { bytesKey, textKey } from './keys';
import { toUnix } from './zone';

/** An upload as the history has it, with the key that its bytes and those of a live one share. */
export interface Recorded {
  readonly id: bigint;
  /** Undefined for a record whose body cannot be read: it may be any upload. */
  readonly key: string | undefined;
  /** `create_time`, as the service writes it. */
  readonly time?: string;
  /** Its body as it is written. */
  readonly body?: string | undefined;
  /** The key of that. */
  readonly mark?: string | undefined;
  /** Made when it is asked for: most records arrived live, and are looked at by their keys alone. */
  upload: () => Upload;
}

/** How the records of one answer are read. */
export interface HistoryForm {
  appid: string;
  chipid: string;
  /** How bodies are written. */
  encoding: Encoding;
  /** Whether that is certain: then a body that is not Base64 is unreadable, and not taken as text. */
  certain: boolean;
  /** Keys of bodies that are not text, which a history of texts has in Base64. */
  binaries?: ReadonlySet<string>;
  /** Milliseconds that the history's times are ahead of UTC. */
  zone: number;
  /** Milliseconds since 1970, for records without a time. */
  now: number;
  /** The latest `create_time` that is taken for one. */
  latest: string;
}

/** One record of an answer, looked at no closer than it has to be. */
export class HistoryRecord implements Recorded {
  private text: string | undefined;
  private bytes: string | false | undefined;

  constructor(
    readonly id: bigint,
    /** The record; undefined if there is no body in it. */
    private readonly record: UploadRecord | undefined,
    private readonly form: HistoryForm,
  ) {}

  get body(): string | undefined {
    return this.record?.body;
  }

  /** When it was accepted; empty if that is well ahead of this clock, which says nothing. */
  get time(): string {
    const { written } = this;
    return written > this.form.latest ? '' : written;
  }

  private get written(): string {
    const time: unknown = this.record?.create_time;
    return typeof time === 'string' ? time : '';
  }

  /** The key if bodies are text; of a text, what its bytes would give. */
  get mark(): string | undefined {
    if (this.body === undefined) return undefined;
    return (this.text ??= textKey(this.body.toWellFormed()));
  }

  /** The key if bodies are Base64; undefined if this one is not. */
  get base64Key(): string | undefined {
    if (this.body === undefined) return undefined;
    if (this.bytes === undefined) {
      const bytes = decodeBase64(this.body);
      this.bytes = bytes ? bytesKey(bytes) : false;
    }
    return this.bytes === false ? undefined : this.bytes;
  }

  /** Whether there is a body, and it cannot be Base64. */
  get isNoBase64(): boolean {
    return this.body !== undefined && this.base64Key === undefined;
  }

  get key(): string | undefined {
    const { encoding, binaries } = this.form;
    if (encoding === 'text') return this.isBinary(binaries) ? this.base64Key : this.mark;
    return this.base64Key ?? (this.form.certain ? undefined : this.mark);
  }

  private isBinary(binaries: ReadonlySet<string> | undefined): boolean {
    if (binaries === undefined || binaries.size === 0) return false;
    return this.base64Key !== undefined && binaries.has(this.base64Key);
  }

  upload(): Upload {
    const { form, record, body = '' } = this;
    const time = toUnix(this.written, form.zone);
    const decoded = form.encoding === 'base64' ? decodeBase64(body) : undefined;
    return {
      chipid: form.chipid,
      appid: form.appid,
      timestamp: Number.isNaN(time) ? form.now : time,
      body: decoded ?? Buffer.from(body, 'utf8'),
      replayed: true,
      id: record?.id ?? String(this.id),
    };
  }
}

/** Longer ids are refused: no counter comes so far, and each later upload would stand before it. */
const MAX_DIGITS = 20;
const DIGITS = /^\d+$/;

/** An id of a history: a safe integer from 0, or up to 20 digits. @returns undefined for anything else */
function idOf(id: unknown): bigint | undefined {
  if (typeof id === 'number') return Number.isSafeInteger(id) && id >= 0 ? BigInt(id) : undefined;
  if (typeof id !== 'string' || id.length > MAX_DIGITS || !DIGITS.test(id)) return undefined;
  return BigInt(id);
}

/** Whether `dev` of a record (section 2.3) is the number of another device, however it is written. */
const isOfAnother = (dev: unknown, chipid: string): boolean =>
  (typeof dev === 'string' || typeof dev === 'number') &&
  DIGITS.test(String(dev)) &&
  String(dev).replace(/^0+(?=\d)/, '') !== chipid;

/** An answer as it can be used, and what in it could not. */
export interface ReadAnswer {
  /** By id, oldest first, each id once. */
  records: HistoryRecord[];
  /** What is wrong with records that were left out, each in words for the log. */
  faults: Set<string>;
}

/** Reads an answer for recovery. What is no record is left out and named; the rest is used. */
export function readAnswer(answer: readonly unknown[], form: HistoryForm): ReadAnswer {
  const byId = new Map<bigint, HistoryRecord>();
  const faults = new Set<string>();
  for (const item of answer) {
    const id = isObject(item) ? idOf(item['id']) : undefined;
    if (id === undefined) {
      faults.add(
        isObject(item) ? 'its id is not a number of at most 20 digits' : 'it is no object',
      );
      continue;
    }
    const record = item as UploadRecord & { body: unknown };
    if (isOfAnother(record.dev, form.chipid)) {
      faults.add('it is of another device');
      continue;
    }
    const isWhole = typeof record.body === 'string';
    if (!isWhole) faults.add('its body is not text');
    const earlier = byId.get(id);
    if (earlier && isWhole && earlier.body !== undefined && earlier.body !== record.body)
      faults.add('its id is that of another record');
    // Of two with one id the first that can be read: each id is one upload.
    if (earlier?.body !== undefined) continue;
    byId.set(id, new HistoryRecord(id, isWhole ? record : undefined, form));
  }
  const records = [...byId.values()];
  records.sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
  return { records, faults };
}
