import { decodeBase64 } from '../../util/base64';
import type { Upload, UploadRecord } from '../../types';
import type { Encoding } from './facts';
import { bytesKey, textKey } from './keys';
import { toUnix } from './zone';

/** An upload that is created only when needed: most records arrived live, and only their keys are compared. */
export interface Due {
  upload(): Upload;
}

/** An upload in the history, with the key that a live upload of the same bytes has. */
export interface Recorded extends Due {
  readonly id: bigint;
  /** Undefined if the body cannot be read: the record may be any upload. */
  readonly key: string | undefined;
  /** `create_time`, as the service writes it. */
  readonly time?: string;
  /** The body as it is written. */
  readonly body?: string | undefined;
  /** The key of that text. */
  readonly mark?: string | undefined;
}

/** How the records of one answer are read. */
export interface HistoryForm {
  appid: string;
  chipid: string;
  /** How bodies are written. */
  encoding: Encoding;
  /** Whether that is certain: then a body that is not Base64 is unreadable, and not read as text. */
  certain: boolean;
  /** Keys of binary bodies that are in Base64 although the history writes text. */
  binaries?: ReadonlySet<string>;
  /** Milliseconds that the history's times are ahead of UTC. */
  zone: number;
  /** Milliseconds since 1970, for records without a time. */
  now: number;
  /** A later `create_time` is ignored. */
  latest: string;
}

/** A character that Base64 does not have. Most texts have one early on, so this is quicker than decoding. */
const FOREIGN = /[^A-Za-z\d+/=]/;

/** One record of an answer. Nothing of it is decoded or hashed before it is needed. */
export class HistoryRecord implements Recorded {
  private text: string | undefined;
  private bytes: string | false | undefined;

  /** When it was accepted; empty if that is far ahead of this clock, and so meaningless. */
  readonly time: string;

  constructor(
    readonly id: bigint,
    /** The record; undefined if it has no body. */
    private readonly record: UploadRecord | undefined,
    private readonly form: HistoryForm,
  ) {
    const { written } = this;
    // Stored, since each reading compares the times of all records several times.
    this.time = written > form.latest ? '' : written;
  }

  get body(): string | undefined {
    return this.record?.body;
  }

  private get written(): string {
    const time: unknown = this.record?.create_time;
    return typeof time === 'string' ? time : '';
  }

  /** The key if bodies are text: the one that the bytes of the text have. */
  get mark(): string | undefined {
    if (this.body === undefined) return undefined;
    return (this.text ??= textKey(this.body.toWellFormed()));
  }

  /** The key if bodies are Base64; undefined if this body is not. */
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
