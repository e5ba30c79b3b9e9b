import { decodeBase64 } from '../util/base64';
import type { UploadRecord } from '../types';
import type { Upload } from '../channel/frames';
import type { Encoding } from './facts';
import { bytesKey, textKey } from './keys';
import { toUnix } from './zone';

/** Gives an upload, made when its turn comes: most records arrived live, and are looked at by their keys alone. */
export interface Due {
  upload(): Upload;
}

/** An upload as the history has it, with the key that its bytes and those of a live one share. */
export interface Recorded extends Due {
  readonly id: bigint;
  /** Undefined for a record whose body cannot be read: it may be any upload. */
  readonly key: string | undefined;
  /** `create_time`, as the service writes it. */
  readonly time?: string;
  /** Its body as it is written. */
  readonly body?: string | undefined;
  /** The key of that. */
  readonly mark?: string | undefined;
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

/** Not in Base64. Most texts have one early on, which is found sooner than by decoding. */
const FOREIGN = /[^A-Za-z\d+/=]/;

/** One record of an answer, looked at no closer than it has to be. */
export class HistoryRecord implements Recorded {
  private text: string | undefined;
  private bytes: string | false | undefined;

  /** When it was accepted; empty if that is well ahead of this clock, which says nothing. */
  readonly time: string;

  constructor(
    readonly id: bigint,
    /** The record; undefined if there is no body in it. */
    private readonly record: UploadRecord | undefined,
    private readonly form: HistoryForm,
  ) {
    const { written } = this;
    // Each reading looks at the times of all records several times.
    this.time = written > form.latest ? '' : written;
  }

  get body(): string | undefined {
    return this.record?.body;
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
      const bytes = FOREIGN.test(this.body) ? undefined : decodeBase64(this.body);
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
