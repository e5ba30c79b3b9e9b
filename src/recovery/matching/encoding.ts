import { invalidInput } from '../../errors';
import { show } from '../../util/show';
import type { Encoding, EncodingSetting, HistoryFacts } from '../records/facts';
import { guessEncoding } from '../records/guess-encoding';
import type { Ledger } from './ledger';
import type { HistoryForm, HistoryRecord } from '../records/recorded';
import type { ReportFault } from './report';
import type { Since } from '../position/since';

/** Arrivals are searched among the newest records: as many as there are arrivals, and this many more. */
const MARGIN = 2000;

/** What uploads that came both ways show about the encoding of bodies. */
interface Shown {
  encoding: Encoding | undefined;
  /** Whether a text body shows it: binary ones may be in Base64 even in a history that writes text. */
  isProven: boolean;
  /** Keys of binary arrivals that the history contains in Base64 only. */
  binaries: ReadonlySet<string>;
}

const majority = (asText: number, asBase64: number): Encoding | undefined => {
  if (asText === asBase64) return undefined;
  return asText > asBase64 ? 'text' : 'base64';
};

/** Looks for each arrival among the records, as text and as Base64. */
export function lookForEach(records: readonly HistoryRecord[], ledger: Ledger): Shown {
  const arrived = ledger.arrivedKeys();
  const binaries = new Set<string>();
  if (arrived.length === 0) return { encoding: undefined, isProven: false, binaries };
  // What has just arrived is among the newest records.
  const newest = records.slice(-arrived.length - MARGIN);
  const texts = new Set(newest.map(({ mark }) => mark));
  const bytes = new Set(newest.map(({ base64Key }) => base64Key));
  let [asText, asBase64, asLossyText] = [0, 0, 0];
  for (const key of arrived) {
    const isText = texts.has(key.text);
    const isBase64 = bytes.has(key.bytes);
    if (isText === isBase64) continue;
    const isBinary = key.text !== key.bytes;
    if (!isBinary && isText) asText++;
    else if (!isBinary) asBase64++;
    else if (isBase64) binaries.add(key.bytes);
    else asLossyText++;
  }
  const proven = majority(asText, asBase64);
  const encoding = proven ?? majority(asLossyText, binaries.size);
  return { encoding, isProven: proven !== undefined, binaries };
}

/**
 * Whether it is obvious that bodies are text: the first record is the oldest arrival, and none can be Base64. That is
 * the usual case, in which no further arrival has to be searched.
 */
function arePlain(records: readonly HistoryRecord[], { oldestText }: Ledger): boolean {
  return (
    oldestText !== undefined &&
    records.length <= MARGIN &&
    records[0]?.mark === oldestText &&
    records.every(({ base64Key }) => base64Key === undefined)
  );
}

/** What uploads that came both ways show. @param records those after the position, oldest first */
export const shownBy = (records: readonly HistoryRecord[], ledger: Ledger): Shown =>
  arePlain(records, ledger)
    ? { encoding: 'text', isProven: true, binaries: new Set() }
    : lookForEach(records, ledger);

/** The log line about a record that was left out. */
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

/** The log line about a setting that is wrong. */
const wrongSetting = (setting: Encoding, shown: Encoding): string =>
  `the history encoding of the application is set to ${NAMES[setting]}, but the history is written ` +
  `in ${NAMES[shown]}, as an upload that came both ways shows: set it to ${shown} or auto. ` +
  `Until then the history is read as ${NAMES[shown]} all the same`;

const NOT_BASE64 =
  'a body of the history is not Base64, and was taken as text: if the service writes text, set the ' +
  'history encoding of the application to text or auto';

/** The log line if the encoding has been unknown for long, and missed uploads wait for it. */
export const UNCLEAR =
  'missed uploads wait, since uploads that came both ways do not show whether the history is written ' +
  'in text or in Base64: set the history encoding of the application';

/** The basis for choosing the encoding. */
interface Choice {
  setting: EncodingSetting;
  facts: HistoryFacts;
  ledger: Ledger;
  report: ReportFault;
}

/** Remembers what uploads that came both ways have shown, and reports a setting that they contradict. */
function learn({ encoding, isProven }: Shown, { setting, facts, report }: Choice): void {
  if (encoding === undefined || (facts.isProven && !isProven)) return;
  facts.encoding = encoding;
  facts.isProven ||= isProven;
  if (setting !== 'auto' && setting !== encoding && facts.isNews(`${setting} ${encoding}`))
    report('wrong encoding', wrongSetting(setting, encoding));
}

/**
 * Decides how the bodies of an answer are read: as uploads that came both ways show, otherwise as the setting says.
 * @returns false if the encoding is unknown, and which uploads were missed depends on it
 */
export function chooseEncoding(
  records: readonly HistoryRecord[],
  since: Since<HistoryRecord>,
  form: HistoryForm,
  choice: Choice,
): boolean {
  const { setting, facts, ledger, report } = choice;
  const shown = shownBy(since.fresh, ledger);
  learn(shown, choice);
  const use = (encoding: Encoding): void => {
    form.encoding = encoding;
    form.binaries = shown.binaries;
    ledger.setEncoding(encoding, (key) => shown.binaries.has(key));
  };
  const known = facts.encoding ?? (setting === 'auto' ? undefined : setting);
  if (known) {
    form.certain = facts.encoding === 'base64' && facts.isProven;
    use(known);
    const isOdd = known === 'base64' && since.fresh.some((record) => record.isNoBase64);
    if (isOdd && form.certain) report('bad record', badRecord('its body is not Base64'));
    else if (isOdd) report('no Base64', NOT_BASE64);
    return true;
  }
  const guess = guessEncoding(records.map(({ body }) => body));
  if (ledger.size > 0) {
    use(guess === 'text' ? 'base64' : 'text');
    const other = ledger.preview(since);
    use(guess);
    return ledger.preview(since) === other;
  }
  use(guess);
  return true;
}
