import { isUtf8 } from 'node:buffer';
import { hash } from 'node:crypto';
import { decodeBase64 } from '../util/base64';

/**
 * The forms in which a history may write the `body` of an upload; sections 2.3 to 2.5 do not show which. `trimmed`:
 * without white space at both ends. `tagged`: as the public server of 2016 does, without white space at both ends,
 * without the text before the first comma, and without any comma. In the order in which they are preferred while
 * nothing tells them apart.
 */
export const FORMS = ['text', 'trimmed', 'tagged', 'base64'] as const;
/** How the service writes `body` in history records: one of {@link FORMS}. */
export type HistoryForm = (typeof FORMS)[number];

/** Whether a history in this form lacks something of what was uploaded, which cannot be seen. */
export const isLossy = (form: HistoryForm): boolean => form === 'trimmed' || form === 'tagged';

/** Of longer bodies, only hashes are remembered, which need less memory. */
const MAX_TEXT = 64;
/** Characters of a hash, 72 bits. V8 copies a part of at most 12 characters, and keeps the whole text of a longer one. */
const HASH_LENGTH = 12;
/** What is read, or written by a history, for bytes that are not UTF-8. */
export const REPLACEMENT = '\ufffd';
/** No well-formed text begins with it, so bytes that are not text cannot be confused with one. */
const NOT_TEXT = '\ud800';
/** The same for the hash of a long text. */
const HASHED = '\ud804';

const hashOf = (text: string): string => hash('sha256', text, 'base64').slice(0, HASH_LENGTH);

/** A short text is its own key: each hash costs most of a microsecond. */
const textKey = (text: string): string => (text.length <= MAX_TEXT ? text : HASHED + hashOf(text));

/** The same for a part of a text, which would keep the whole text in memory. */
const partKey = (part: string): string => textKey(Buffer.from(part, 'utf8').toString('utf8'));

const bytesKey = (bytes: Buffer): string =>
  isUtf8(bytes) ? textKey(bytes.toString('utf8')) : NOT_TEXT + textKey(bytes.toString('base64'));

/** A key as it is saved, a hash: positions contain no body. What is empty stays so. */
export function savedKey(key: string): string {
  if (key === '') return '';
  if (key.startsWith(NOT_TEXT)) return NOT_TEXT + savedKey(key.slice(1));
  return key.startsWith(HASHED) ? key.slice(1) : hashOf(key);
}

/** What any of the usual languages takes for white space: which of them wrote the history is unknown. */
const isSpace = (code: number): boolean =>
  code === 0x20 ||
  (code >= 0x09 && code <= 0x0d) ||
  (code >= 0x1c && code <= 0x1f) ||
  (code >= 0x85 && (code === 0x85 || /\s/.test(String.fromCharCode(code))));

function trim(text: string): string {
  let [from, to] = [0, text.length];
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return from === 0 && to === text.length ? text : text.slice(from, to);
}

/** Whether a body has no white space at its ends. */
export const isTrimmed = (body: string): boolean =>
  !isSpace(body.charCodeAt(0)) && !isSpace(body.charCodeAt(body.length - 1));

/** @param text without white space at both ends */
function untag(text: string): string {
  const comma = text.indexOf(',');
  return comma < 0 ? text : trim(text.slice(comma + 1).replaceAll(',', ''));
}

/** `isSaved`: what {@link savedKey} makes of them, which an earlier run has saved. */
type Keys = Record<HistoryForm, string> & { readonly isSaved?: true };

/**
 * What an upload that arrived looks like in each form. Equal keys mean equal bodies. Of a short text, only the text is
 * kept, since there may be a million of them and few are ever compared in another form.
 */
export class BodyKeys {
  readonly #of: string | Keys;
  #saved: string | undefined;

  /** @param of a short text, or its keys @param saved what an earlier run has saved of it */
  constructor(of: string | Keys, saved?: string) {
    this.#of = of;
    this.#saved = saved;
  }

  /** Whether an earlier run has saved it: then it equals no record before {@link restore}. */
  get isSaved(): boolean {
    return typeof this.#of !== 'string' && this.#of.isSaved === true;
  }

  get text(): string {
    return typeof this.#of === 'string' ? this.#of : this.#of.text;
  }

  get trimmed(): string {
    return typeof this.#of === 'string' ? trim(this.#of) : this.#of.trimmed;
  }

  get tagged(): string {
    return typeof this.#of === 'string' ? bareBody(this.#of) : this.#of.tagged;
  }

  get base64(): string {
    return typeof this.#of === 'string' ? this.#of : this.#of.base64;
  }

  /** Whether it is text: then it shows how texts are written, while binary data may be in Base64 anywhere. */
  get isText(): boolean {
    return typeof this.#of === 'string' || this.#of.text === this.#of.base64;
  }

  /** The body for people to read; undefined if it is long or was saved. */
  get body(): string | undefined {
    return typeof this.#of === 'string' ? this.#of : undefined;
  }

  /** Replaces its saved keys by those of records. @param keys of records, by what is saved of them */
  restore(keys: ReadonlyMap<string, string>): void {
    if (typeof this.#of === 'string') return;
    for (const form of FORMS) this.#of[form] = keys.get(this.#of[form]) ?? this.#of[form];
  }

  /** Joins the keys to one text, to be saved: it does not contain the body. */
  join(): string {
    return (this.#saved ??= this.#join());
  }

  #join(): string {
    const { text } = this;
    let joined = savedKey(text);
    for (const form of SAVED_FORMS)
      if (this[form] !== text) joined += SAVED[form] + savedKey(this[form]);
    return joined;
  }
}

/** The keys of an upload that arrived. */
export function arrivalKeys(body: Buffer): BodyKeys {
  const written = body.toString('utf8');
  const isWhole = !written.includes(REPLACEMENT) || isUtf8(body);
  if (isWhole && written.length <= MAX_TEXT) return new BodyKeys(written);
  const text = textKey(written);
  const bare = trim(written);
  // No hash is made twice: of most uploads they are equal.
  const trimmed = bare === written ? text : partKey(bare);
  const plain = untag(bare);
  const tagged = plain === bare ? trimmed : partKey(plain);
  return new BodyKeys({ text, trimmed, tagged, base64: isWhole ? text : bytesKey(body) });
}

/** The key of a record's body; undefined if it cannot be in this form. Texts are compared without what a form may drop. */
export function recordKey(body: string, form: HistoryForm): string | undefined {
  if (form === 'base64') {
    const bytes = FOREIGN.test(body) ? undefined : decodeBase64(body);
    return bytes && bytesKey(bytes);
  }
  return textKey((form === 'text' ? body : trim(body)).toWellFormed());
}

/** A character that Base64 does not have. Most texts have one early on, so this is quicker than decoding. */
const FOREIGN = /[^A-Za-z\d+/=]/;

/** The bytes of a record's body. A body that is not in Base64 is text. */
export const recordBytes = (body: string, form: HistoryForm): Buffer =>
  (form === 'base64' ? decodeBase64(body) : undefined) ?? Buffer.from(body, 'utf8');

/** Text as people or programs write it: no control characters except white space. */
const PRINTABLE = /^[^\p{Cc}\p{Cn}\ufffd]*$/u;
const readable = (base64: string): boolean =>
  PRINTABLE.test(Buffer.from(base64, 'base64').toString('utf8').replace(/\s/g, ''));

/** How many bodies a guess is based on. */
const SAMPLE = 100;
/** This many texts are hardly ever all valid Base64 by chance if one has a `+` or `/`. */
const MANY = 4;

/**
 * Guesses how bodies are written while no upload has come both ways. It is Base64 if all bodies are valid
 * Base64 and one of these holds: each decodes to text; some are padded; there are several, and some have
 * a `+` or `/`. A text that is valid Base64 by chance, such as `test`, meets none of them.
 */
export function guessEncoding(bodies: readonly unknown[]): 'text' | 'base64' {
  const sample = bodies
    .filter((body): body is string => typeof body === 'string' && body !== '')
    .slice(-SAMPLE);
  const isBase64 =
    sample.length > 0 &&
    sample.every((body) => decodeBase64(body) !== undefined) &&
    (sample.some((body) => body.endsWith('=')) ||
      sample.every(readable) ||
      (sample.length >= MANY && sample.some((body) => /[+/]/.test(body))));
  return isBase64 ? 'base64' : 'text';
}

/** The marks of keys that do not follow from the text, in a saved position. */
const SAVED = { trimmed: '\ud801', tagged: '\ud802', base64: '\ud803' } as const;
/** A mark is half of a character, and no well-formed text has one. */
const MARK = /(?=[\ud801-\ud803](?![\udc00-\udfff]))/;
const SAVED_FORMS = ['trimmed', 'tagged', 'base64'] as const;

/** Splits what {@link BodyKeys.join} has returned. */
export function splitKeys(saved: string): BodyKeys {
  const [text = '', ...others] = saved.split(MARK);
  const keys = { text, trimmed: text, tagged: text, base64: text, isSaved: true as const };
  for (const other of others) {
    const form = SAVED_FORMS.find((each) => other.startsWith(SAVED[each]));
    if (form) keys[form] = other.slice(1);
  }
  return new BodyKeys(keys, saved);
}

/** A body without all that some form of text may leave out: the same in each of these forms. */
export const bareBody = (body: string): string => untag(trim(body));

/** Whether an upload leaves nothing in some form: such a history may not have it at all. */
export const mayBeEmpty = (keys: BodyKeys): boolean => keys.trimmed === '' || keys.tagged === '';

/** How many uploads that came both ways have to agree before they are believed: a device's clock may be wrong. */
export const AGREEING = 3;
/** How many of the latest are remembered: a service may change its ways. */
const REMEMBERED = 9;

/** The value that most of the latest observations agree on; undefined while too few do. */
class Learned<T> {
  readonly #seen: (readonly T[])[] = [];
  value: T | undefined;

  /** @param possible the values with which one observation agrees, in the order of preference */
  add(possible: readonly T[]): void {
    this.#seen.push(possible);
    if (this.#seen.length > REMEMBERED) this.#seen.shift();
    const votes = new Map<T, number>();
    for (const each of this.#seen.flat()) votes.set(each, (votes.get(each) ?? 0) + 1);
    const [best] = [...votes].sort(
      ([a, first], [b, second]) =>
        second - first || Number(b === this.value) - Number(a === this.value),
    );
    if (best && best[1] >= AGREEING) this.value = best[0];
  }
}

/**
 * What uploads that came both ways, live and from the history, have shown about the history of an application. All
 * its devices share this, so that a new one need not learn it again.
 */
export class HistoryFacts {
  readonly #isBase64 = new Learned<boolean>();
  /** Learned from uploads that tell the forms of text apart. */
  readonly #textForm = new Learned<HistoryForm>();
  readonly #zone = new Learned<number>();
  readonly #reported = new Set<string>();
  #isWhole = false;

  /**
   * How bodies are written; undefined until several uploads have shown it. Texts in which no form would have left
   * anything out show that they are text.
   */
  get form(): HistoryForm | undefined {
    if (this.#isBase64.value === true) return 'base64';
    return this.#textForm.value ?? (this.#isBase64.value === false ? 'text' : undefined);
  }

  /** Whether texts lose nothing, whatever is in them: the last upload with white space at an end was in the history as it was. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** The time zone of `create_time`, in milliseconds ahead of UTC; undefined until several uploads have shown it. */
  get zone(): number | undefined {
    return this.#zone.value;
  }

  /** Takes over what an earlier run has learned, unless this one has learned it by itself. */
  restore(form: HistoryForm | undefined, zone: number | undefined): void {
    this.#zone.value ??= zone;
    if (form === undefined) return;
    this.#isBase64.value ??= form === 'base64';
    if (isLossy(form)) this.#textForm.value ??= form;
  }

  /** An upload came both ways. @param forms those in which the two are equal */
  sawForms(forms: readonly HistoryForm[]): void {
    const isText = forms.includes('text');
    if (isText !== forms.includes('trimmed')) this.#isWhole = isText;
    const asText = forms.filter((form) => form !== 'base64');
    const isBoth = asText.length > 0 && asText.length < forms.length;
    if (!isBoth) this.#isBase64.add([asText.length === 0]);
    if (asText.length > 0 && asText.length < FORMS.length - 1) this.#textForm.add(asText);
  }

  /** An upload came both ways. @param zone that in which the two have one time, in milliseconds ahead of UTC */
  sawZone(zone: number): void {
    this.#zone.add([zone]);
  }

  /** Whether a text has not been reported yet: what concerns the application is reported only once. */
  isNews(text: string): boolean {
    if (this.#reported.has(text)) return false;
    this.#reported.add(text);
    return true;
  }
}
