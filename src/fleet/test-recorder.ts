import { dump } from 'js-yaml';
import type { Upload } from '../types';
import { parseJson } from '../util/json';
import type { UnsignedRequest } from '../protocol/call-spec';

/** Milliseconds, uploads, and bytes of uploads and pushes after which a recording ends. */
const MAX_DURATION = 600_000;
const MAX_UPLOADS = 1000;
const MAX_BYTES = 8 * 2 ** 20;
/** Expectations at most: what is pushed or set again is expected once. */
const MAX_EXPECTED = 1000;
/** Milliseconds for which a test waits without being told. */
const PATIENCE = 5000;
/** The pins that a test can name. */
const PINS = 16;

type Step = Readonly<Record<string, unknown>>;

/** What the sidebar shows of a recording. */
export interface TestRecording {
  /** Milliseconds since 1970. */
  since: number;
  uploads: number;
  isOver: boolean;
}

const PIN = /^set_gpio_edge\/(\d+)\/(\d+)\/([01])\/$/;

/** A number where YAML can hold it. */
const numberOf = (chipid: string): number | string =>
  Number.isSafeInteger(Number(chipid)) ? Number(chipid) : chipid;

/** What JSON or text means, where exactly these bytes are made of it again; otherwise the bytes. */
function readable(bytes: Buffer): unknown {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return new Uint8Array(bytes);
  try {
    const value = parseJson(text);
    if (typeof value === 'object' && JSON.stringify(value) === text) return value;
  } catch {
    // It is text.
  }
  return text;
}

/** Records, in memory, what devices upload and what flows do meanwhile, as a test of these flows. */
export class TestRecorder {
  /** Resolves when nothing more is recorded. */
  readonly ended: Promise<void>;
  readonly #since = Date.now();
  readonly #start = performance.now();
  readonly #chipids: ReadonlySet<string> | undefined;
  /** Their bytes, a character each. */
  readonly #secrets: readonly string[];
  readonly #timer = setTimeout(() => this.end(), MAX_DURATION).unref();
  #onEnd!: () => void;
  #isOver = false;
  #bytes = 0;
  readonly #uploads: { at: number; chipid: string; body: Buffer }[] = [];
  /** By what is expected, so that what happens again is expected once. */
  readonly #expected = new Map<string, { at: number; step: Step }>();

  /** @param chipids the devices; undefined: all @param secrets texts that no test contains */
  constructor(chipids: readonly string[] | undefined, secrets: readonly string[]) {
    this.#chipids = chipids && new Set(chipids);
    // A shorter one would blot out ordinary words.
    const long = secrets.filter(({ length }) => length >= 4);
    this.#secrets = long.map((secret) => Buffer.from(secret).toString('latin1'));
    this.ended = new Promise((resolve) => (this.#onEnd = resolve));
  }

  get state(): TestRecording {
    return { since: this.#since, uploads: this.#uploads.length, isOver: this.#isOver };
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#isOver = true;
    this.#onEnd();
  }

  /** An upload has come live. */
  onLive({ chipid, body }: Upload): void {
    if (!this.#takes(chipid, body.length)) return;
    // A copy: a listener may change the bytes.
    this.#uploads.push({ at: this.#now, chipid, body: this.#masked(body) });
    if (this.#uploads.length === MAX_UPLOADS) this.end();
  }

  /** A flow has pushed over the channel. */
  onPush(chipid: string, bytes: Buffer): void {
    if (!this.#takes(chipid, bytes.length)) return;
    const isSecret = this.#secrets.some((secret) => bytes.includes(secret, 0, 'latin1'));
    const text = bytes.toString();
    const match = isSecret || !Buffer.from(text).equals(bytes) ? { any: true } : text;
    this.#expect('pushed', { chipid: numberOf(chipid), match });
  }

  /** A call was answered with success. */
  onAnswered({ method, path, params = {} }: UnsignedRequest): void {
    if (method !== 'POST') return;
    const [, chipid, pin, level] = PIN.exec(path) ?? [];
    if (chipid !== undefined && Number(pin) < PINS && this.#takes(chipid, 0))
      this.#expect('pin', { chipid: numberOf(chipid), pin: Number(pin), level: Number(level) });
    const { devid, message = '', format } = params;
    // One that goes to all devices is expected at one of them.
    const [chosen = this.#uploads.at(-1)?.chipid] = this.#chipids ?? [];
    const device = path === 'app/push/message/' ? chosen : devid;
    if (device === undefined || !path.endsWith('push/message/')) return;
    // As the device gets it.
    const encoding = format === 'HEX' ? 'hex' : format === 'B64' ? 'base64' : 'utf8';
    this.onPush(device, Buffer.from(message, encoding));
  }

  /** The test, for `device-cloud-test`. */
  toYaml(): string {
    const given = this.#uploads.flatMap(({ at, chipid, body }, index): Step[] => {
      const before = this.#uploads[index - 1]?.at ?? at;
      const seconds = Math.round((at - before) / 10) / 100;
      const upload = { upload: { chipid: numberOf(chipid), payload: readable(body) } };
      return seconds > 0 ? [{ wait: seconds }, upload] : [upload];
    });
    const last = this.#uploads.at(-1)?.at ?? 0;
    const expect = [...this.#expected.values()].map(({ at, step }) => {
      const [[kind, what] = ['', {}]] = Object.entries(step);
      const late = at - last > PATIENCE / 2;
      const within = Math.ceil((at - last + PATIENCE) / 1000);
      return late ? { [kind]: { ...(what as Step), within } } : step;
    });
    const test = {
      name: `as recorded at ${new Date(this.#since).toISOString()}`,
      given,
      expect: expect.length > 0 ? expect : [{ noError: true }],
    };
    return COMMENT + dump([test], { lineWidth: 120, noRefs: true });
  }

  get #now(): number {
    return performance.now() - this.#start;
  }

  #takes(chipid: string, bytes: number): boolean {
    if (this.#isOver || this.#chipids?.has(chipid) === false) return false;
    this.#bytes += bytes;
    if (this.#bytes > MAX_BYTES) this.end();
    return !this.#isOver;
  }

  #expect(kind: string, what: Step): void {
    const step = { [kind]: what };
    const key = JSON.stringify(step);
    if (this.#expected.has(key) || this.#expected.size === MAX_EXPECTED) return;
    this.#expected.set(key, { at: this.#now, step });
  }

  #masked(body: Buffer): Buffer {
    let text = body.toString('latin1');
    for (const secret of this.#secrets) text = text.replaceAll(secret, '***');
    return Buffer.from(text, 'latin1');
  }
}

const COMMENT = `# What devices uploaded is given, with the pauses between; the pins that were set and the messages that were pushed
# are expected. Remove what does not matter, shorten the waits, and add what your nodes have to send ("message").
# A button that was pressed is not recorded: add "- inject: NAME" where it was.
`;
