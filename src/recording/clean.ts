import { MIN_SECRET, redactor } from '../http/redact';
import { decodeBase64 } from '../util/base64';
import { isObject } from '../util/object';

/*
 * What a recording must not hold: keys, signs and addresses; and, if asked for, chip numbers and names. What stands for
 * something stands for it everywhere in one recording.
 */

/** In place of a secret. */
const HIDDEN = '***';

/** Properties of answers that are secrets or addresses, in lower case and without `_` and `-`. */
const NEVER = new Set([
  ...['devkey', 'appkey', 'serverkey', 'serverpassword', 'password', 'passwd', 'secret', 'token'],
  ...['sign', 'signature', 'authorization', 'cookie', 'headers'],
  ...['addr', 'address', 'ip', 'ipaddr', 'ipaddress', 'latestipaddr', 'mac', 'host', 'baseurl'],
]);

/** Properties that hold the name of a device or of an application. */
const NAMES = new Set(['name', 'app', 'app_name', 'note']);

/** Properties that hold the number of a device, or a list of them. */
const CHIPIDS = new Set(['chipid', 'chipids', 'dev', 'devid', 'devices']);

/** Digits of the shortest chip number that is looked for in texts: a shorter one may be anything. */
const LEAST_DIGITS = 4;

const plain = (name: string): string => name.toLowerCase().replace(/[_-]/g, '');

/** A shorter secret, encoded, may be part of any Base64. */
const LEAST_ENCODED = 8;

/** A text as a pattern. */
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');

/** What writes a secret in hexadecimal or Base64, alone or within other bytes, as patterns. */
function encoded(bytes: Buffer): string[] {
  if (bytes.length < LEAST_ENCODED) return [];
  // The first and the last character may have bits of what stands beside it.
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    const last = Math.floor(((before + bytes.length) * 8) / 6);
    return text.slice(Math.ceil((before * 8) / 6), last);
  });
  const forms = base64.map((text) =>
    text.replaceAll('+', '(?:[-+]|%2b)').replaceAll('/', '(?:[/_]|%2f)'),
  );
  return [bytes.toString('hex'), ...forms];
}

/** Matches the secrets, plain or encoded, in a text or in bytes read as Latin-1. @returns undefined without secrets */
function patternOf(secrets: readonly string[]): RegExp | undefined {
  const forms = secrets.flatMap((secret) => {
    const bytes = Buffer.from(secret);
    return [escaped(secret), escaped(bytes.toString('latin1')), ...encoded(bytes)];
  });
  // The longest first: one secret may begin with another.
  const longest = [...new Set(forms)].sort((a, b) => b.length - a.length);
  return longest.length > 0 ? new RegExp(longest.join('|'), 'gi') : undefined;
}

/** What is between blanks, quotes and the like. */
const WORD = /[^\s\0"'`,;:=&<>()[\]{}|\\]+/g;

/** Devices whose keys are remembered. */
const MAX_DEVKEYS = 10_000;

const isDigits = (value: unknown): value is string | number =>
  /^\d{1,20}$/.test(
    typeof value === 'number' ? String(value) : typeof value === 'string' ? value : '',
  );

export class Cleaner {
  readonly #isAnonymous: boolean;
  readonly #redact: (text: string) => string;
  readonly #secrets: RegExp | undefined;
  /** The keys of a device, and their pattern once it was needed. */
  readonly #devkeys = new Map<
    string,
    { key: string; parts: readonly string[]; pattern?: RegExp | undefined }
  >();
  /** Keys of all devices, in lower case. */
  readonly #allDevkeys = new Set<string>();
  readonly #chipids = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** @param secrets keys, passwords, and the hosts of addresses */
  constructor(secrets: readonly string[], isAnonymous: boolean) {
    this.#isAnonymous = isAnonymous;
    this.#redact = redactor(secrets, Infinity);
    const forms = secrets
      .filter(({ length }) => length >= MIN_SECRET)
      .flatMap((secret) => [secret, secret.toLowerCase(), secret.toUpperCase()])
      .flatMap((secret) => [secret, encodeURIComponent(secret.toWellFormed())]);
    this.#secrets = patternOf(forms);
  }

  /**
   * A device's own key, from a list: from now on it is hidden in the lines of this device, and as a word in the texts
   * of calls. It may contain NUL, followed by further text (section 2.1).
   */
  learnDevkey(chipid: string, key: unknown): void {
    if (typeof key !== 'string' || key.length < MIN_SECRET) return;
    if (this.#devkeys.get(chipid)?.key === key || this.#devkeys.size >= MAX_DEVKEYS) return;
    const parts = key.split(/\0+/).filter(({ length }) => length >= MIN_SECRET);
    if (parts.length === 0) return;
    this.#devkeys.set(chipid, { key, parts });
    for (const part of parts) this.#allDevkeys.add(part.toLowerCase());
  }

  #devkeyOf(chipid: string | undefined): RegExp | undefined {
    const known = chipid === undefined ? undefined : this.#devkeys.get(chipid);
    return known && (known.pattern ??= patternOf(known.parts));
  }

  /** The number of a device as the recording has it. */
  chipid(chipid: string): string {
    if (!this.#isAnonymous) return chipid;
    let other = this.#chipids.get(chipid);
    if (other === undefined) {
      other = String(90_000_001 + this.#chipids.size);
      this.#chipids.set(chipid, other);
    }
    return other;
  }

  /** The name of a device or of an application. */
  name(name: unknown): string | number | null {
    if (typeof name !== 'string' && typeof name !== 'number') return null;
    if (!this.#isAnonymous) return typeof name === 'string' ? this.text(name) : name;
    const known = String(name);
    let other = this.#names.get(known);
    if (other === undefined) {
      other = `Name ${this.#names.size + 1}`;
      this.#names.set(known, other);
    }
    return other;
  }

  /**
   * Hides secrets, and whatever looks like a sign; replaces the chip numbers that are known by now.
   * @param chipid the device that it is about, if it is about one
   */
  text(text: string, chipid?: string): string {
    let clean = this.#redact(text);
    for (const pattern of [this.#secrets, this.#devkeyOf(chipid)])
      if (pattern) clean = clean.replace(pattern, HIDDEN);
    if (this.#allDevkeys.size > 0)
      clean = clean.replace(WORD, (word) =>
        this.#allDevkeys.has(word.toLowerCase()) ? HIDDEN : word,
      );
    if (!this.#isAnonymous) return clean;
    const name = this.#names.get(clean);
    if (name !== undefined) return name;
    return clean.replace(/\d+/g, (digits) => {
      if (digits.length < LEAST_DIGITS) return digits;
      return this.#chipids.get(digits.replace(/^0+(?=\d)/, '')) ?? digits;
    });
  }

  /** The same for each text in a value of JSON. */
  value(value: unknown, chipid?: string): unknown {
    if (typeof value === 'string') return this.text(value, chipid);
    if (typeof value === 'number') {
      const written = String(value);
      const clean = this.text(written);
      if (clean === written) return value;
      return Number.isSafeInteger(Number(clean)) ? Number(clean) : clean;
    }
    if (Array.isArray(value)) return value.map((each) => this.value(each, chipid));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => [
        this.text(name, chipid),
        this.#property(name, each, chipid),
      ]),
    );
  }

  /** The parameters of a call. A message in hexadecimal or Base64 that holds a secret is left out. */
  params(params: Readonly<Record<string, string>>, chipid?: string): Record<string, string> {
    const { message, format } = params;
    const clean = Object.entries(params).map(([name, value]) => [
      name,
      name === 'devid' ? this.chipid(value) : this.text(value, chipid),
    ]);
    if (message !== undefined && this.#hidesSecret(message, format, chipid))
      clean.push(['message', HIDDEN]);
    return Object.fromEntries(clean) as Record<string, string>;
  }

  /**
   * @param chipid the device that they are about, if they are about one
   * @returns a copy with an asterisk for each byte of a secret, plain or encoded; undefined if the bytes hold no secret
   */
  bytes(bytes: Buffer, chipid?: string): Buffer | undefined {
    let clean: Buffer | undefined;
    const text = bytes.toString('latin1');
    for (const pattern of [this.#secrets, this.#devkeyOf(chipid)]) {
      if (pattern) pattern.lastIndex = 0;
      for (let found = pattern?.exec(text); pattern && found; found = pattern.exec(text)) {
        clean ??= Buffer.from(bytes);
        clean.fill('*', found.index, pattern.lastIndex);
        // Another may begin within it.
        pattern.lastIndex = found.index + 1;
      }
    }
    return clean;
  }

  #property(name: string, value: unknown, chipid: string | undefined): unknown {
    if (NEVER.has(plain(name))) return HIDDEN;
    if (this.#isAnonymous && CHIPIDS.has(plain(name))) {
      if (Array.isArray(value) && value.every(isDigits))
        return value.map((each) => this.#number(each));
      // `devices` may be a count.
      if (isDigits(value) && name !== 'devices') return this.#number(value);
    }
    const isName = typeof value === 'string' || typeof value === 'number';
    if (this.#isAnonymous && NAMES.has(name) && isName) return this.name(value);
    return this.value(value, chipid);
  }

  #number(written: string | number): string | number {
    const other = this.chipid(String(written).replace(/^0+(?=\d)/, ''));
    return typeof written === 'number' ? Number(other) : other;
  }

  #hidesSecret(message: string, format: string | undefined, chipid: string | undefined): boolean {
    if (format !== 'HEX' && format !== 'B64') return false;
    const bytes = format === 'HEX' ? Buffer.from(message, 'hex') : decodeBase64(message);
    return bytes !== undefined && this.bytes(bytes, chipid) !== undefined;
  }
}
