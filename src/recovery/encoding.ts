import { decodeBase64 } from '../util/base64';
import { invalidInput } from '../errors';
import { show } from '../util/show';
import type { Encoding, EncodingSetting, HistoryFacts } from './facts';
import type { Ledger } from './ledger';
import type { HistoryForm, HistoryRecord, ReadAnswer } from './recorded';

/** Records beyond the arrivals in which those are looked for. */
const MARGIN = 2000;

/** What an answer shows of how bodies are written, if it shows that. */
function shownBy(records: readonly HistoryRecord[], ledger: Ledger): Encoding | undefined {
  const arrived = ledger.arrivedKeys();
  if (arrived.length === 0) return undefined;
  // What has just arrived is among the newest.
  const newest = records.slice(-arrived.length - MARGIN);
  const texts = new Set(newest.map(({ mark }) => mark));
  const bytes = new Set(newest.map(({ base64Key }) => base64Key));
  let asText = 0;
  let asBase64 = 0;
  for (const key of arrived) {
    const isText = texts.has(key.text);
    const isBase64 = bytes.has(key.bytes);
    if (isText && !isBase64) asText++;
    else if (isBase64 && !isText) asBase64++;
  }
  if (asText === asBase64) return undefined;
  return asText > asBase64 ? 'text' : 'base64';
}

/** Text that people or programs write: no control characters but white space. */
const PRINTABLE = /^[^\p{Cc}\p{Cn}\ufffd]*$/u;
const readable = (base64: string): boolean =>
  PRINTABLE.test(Buffer.from(base64, 'base64').toString('utf8').replace(/\s/g, ''));

/** Bodies that a guess looks at. */
const SAMPLE = 100;

/**
 * How bodies are probably written, when nothing has come both ways yet. Base64 is nothing but Base64,
 * and what it stands for is text, or some of it is padded; a text that is Base64 by chance, such as
 * `test`, stands for neither.
 */
export function guessEncoding(bodies: readonly unknown[]): Encoding {
  const sample = bodies
    .filter((body): body is string => typeof body === 'string' && body !== '')
    .slice(-SAMPLE);
  const isBase64 =
    sample.length > 0 &&
    sample.every((body) => decodeBase64(body) !== undefined) &&
    (sample.some((body) => body.endsWith('=')) || sample.every(readable));
  return isBase64 ? 'base64' : 'text';
}

/** A record that was left out, in words for the log. */
export const badRecord = (what: string): string =>
  `a record of the history could not be used, since ${what}; the others were`;

/**
 * Reads the `encoding` of a listener.
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function encodingSetting(value: unknown = 'auto'): EncodingSetting {
  if (value === 'auto' || value === 'text' || value === 'base64') return value;
  throw invalidInput(
    `The encoding of the history must be "auto", "text" or "base64", but is ${show(value)}.`,
  );
}

const NAMES: Readonly<Record<Encoding, string>> = { text: 'text', base64: 'Base64' };

/** How the setting is wrong, in words for the log. */
const wrongSetting = (setting: Encoding, shown: Encoding): string =>
  `the history encoding of the application is set to ${NAMES[setting]}, but the history is written ` +
  `in ${NAMES[shown]}, as an upload that came both ways shows: set it to ${shown} or auto. ` +
  `Until then the history is read as ${NAMES[shown]} all the same`;

const NOT_BASE64 =
  'a body of the history is not Base64, and was taken as text: if the service writes text, set the ' +
  'history encoding of the application to text or auto';

/** What a choice of the encoding needs to know, and whom it tells. */
interface Choice {
  setting: EncodingSetting;
  facts: HistoryFacts;
  ledger: Ledger;
  tell: (kind: string, text: string) => void;
}

/**
 * Decides how the bodies of an answer are read: as uploads that came both ways show, or as it is set.
 * @returns false if that is not known and makes a difference to which uploads were missed
 */
export function chooseEncoding(
  { records }: ReadAnswer,
  form: HistoryForm,
  { setting, facts, ledger, tell }: Choice,
): boolean {
  const { fresh } = ledger.since(records);
  const shown = shownBy(fresh, ledger);
  if (shown) {
    facts.encoding = shown;
    if (setting !== 'auto' && setting !== shown && facts.isNews(`${setting} ${shown}`))
      tell('wrong encoding', wrongSetting(setting, shown));
  }
  const use = (encoding: Encoding): void => {
    form.encoding = encoding;
    ledger.setEncoding(encoding);
  };
  const known = facts.encoding ?? (setting === 'auto' ? undefined : setting);
  if (known) {
    form.certain = facts.encoding === 'base64';
    use(known);
    const isOdd = known === 'base64' && fresh.some((record) => record.isNoBase64);
    if (isOdd && form.certain) tell('bad record', badRecord('its body is not Base64'));
    else if (isOdd) tell('no Base64', NOT_BASE64);
    return true;
  }
  const guess = guessEncoding(records.map(({ body }) => body));
  if (ledger.size > 0) {
    use(guess === 'text' ? 'base64' : 'text');
    const other = ledger.preview(records);
    use(guess);
    return ledger.preview(records) === other;
  }
  use(guess);
  return true;
}
