import { pickDevice } from '../common/editor/device-rows';
import { explainFailure } from '../common/editor/routes';
import { fieldValue, show } from '../common/editor/rows';
import { appPath, getRoute } from '../common/editor/routes';
import { showRows, type ResultRow } from '../common/editor/result-rows';
import { plain, t } from '../common/editor/texts';
import { APP_TYPE, isObject } from '../common/shared.config';
import { fieldTexts, type TriedUpload, type TryResult } from './type.config';

/** What the form of a type has to be tried with. */
export interface Trial {
  /** Undefined if uploads are not decoded. */
  decode: (bytes: Uint8Array, charset: string) => TryResult | undefined;
  units: () => Record<string, string>;
}

/** Milliseconds from a key to its result: the next key may come before. */
const PAUSE = 250;

const source = (): JQuery => $('#device-cloud-try-source');
const typed = (): JQuery => $('#device-cloud-try-typed');
const app = (): JQuery => $('#device-cloud-try-app');
const device = (): JQuery => $('#device-cloud-try-device');

const failure = (text: string): ResultRow[] => [{ icon: 'fa-times', text: plain(text) }];

function fromHex(text: string): Uint8Array | undefined {
  const digits = text.replace(/^\s*0x|[\s,:-]/gi, '');
  if (digits.length % 2 > 0 || /[^0-9a-f]/i.test(digits)) return undefined;
  return Uint8Array.from(digits.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function reasonOf(error: unknown): ResultRow[] {
  const { reason, detail } = explainFailure(error, 'device-cloud.read');
  return [{ icon: 'fa-times', text: reason, ...(detail === undefined ? {} : { detail }) }];
}

function resultRows(result: TryResult | undefined, { units }: Trial): ResultRow[] {
  if (!result) return [{ icon: 'fa-info-circle', text: t('try.none') }];
  if ('problem' in result) return failure(result.problem);
  return fieldTexts(result.value, units()).map((text) => ({ icon: 'fa-check', text: plain(text) }));
}

/** An upload as text if it is text, such as JSON, otherwise its bytes. */
function shownUpload(bytes: Uint8Array, hex: string, charset: string): string {
  const inHex = hex.replace(/../g, '$& ').trim();
  try {
    const text = new TextDecoder(charset, { fatal: true }).decode(bytes).trim();
    return plain(text) === text && text !== '' ? text : inHex;
  } catch {
    return inHex;
  }
}

/** The bytes to be tried, or what to say instead. */
async function uploadOf(): Promise<{ bytes: Uint8Array; charset: string } | ResultRow[]> {
  if (fieldValue(source()) !== 'latest') {
    const text = fieldValue(typed());
    if (text === '') return [];
    const isText = fieldValue(source()) === 'text';
    const bytes = isText ? new TextEncoder().encode(text) : fromHex(text);
    return bytes ? { bytes, charset: 'utf-8' } : failure(t('common.error.hex'));
  }
  const id = fieldValue(app());
  const chipid = fieldValue(device()).trim();
  if (id === '' || chipid === '') return [];
  try {
    const answer: unknown = await getRoute(`${appPath(id, 'devices', chipid)}?upload`);
    const upload = isObject(answer) ? (answer['upload'] as TriedUpload | undefined) : undefined;
    const bytes = upload && fromHex(upload.hex);
    if (!bytes) return failure(t('try.no-upload'));
    const charset = (RED.nodes.node(id) as { charset?: string }).charset || 'utf-8';
    $('#device-cloud-try-bytes').text(shownUpload(bytes, upload.hex, charset));
    return { bytes, charset };
  } catch (error) {
    const isUnknown = isObject(error) && error['status'] === 404;
    return isUnknown ? failure(t('try.no-upload')) : reasonOf(error);
  }
}

async function rowsOf(trial: Trial): Promise<ResultRow[]> {
  const upload = await uploadOf();
  if (Array.isArray(upload)) return upload;
  return resultRows(trial.decode(upload.bytes, upload.charset), trial);
}

/** Offers the applications, the only one at once. */
function offerApps(): void {
  RED.nodes.eachConfig((config) => {
    if (config.type !== APP_TYPE) return;
    const option = $('<option>', { value: config.id });
    option.text(RED.utils.getNodeLabel(config, config.id)).appendTo(app());
  });
}

/** Shows, while one types, what becomes of an upload. */
export function prepareTry(trial: Trial): void {
  offerApps();
  pickDevice(device(), app);
  let latest = 0;
  let timer: number | undefined;
  const run = (): void => {
    const mine = ++latest;
    $('#device-cloud-try-bytes').text('');
    void rowsOf(trial).then((rows) => {
      // An answer may come after that to a later question.
      if (mine === latest) showRows($('#device-cloud-try-result'), rows);
    });
  };
  const adapt = (): void => {
    const isLatest = fieldValue(source()) === 'latest';
    show('.device-cloud-latest-only', isLatest);
    show('.device-cloud-typed-only', !isLatest);
    typed().attr(
      'placeholder',
      fieldValue(source()) === 'hex' ? '08 66 50' : 'temperature=21.5;battery=80',
    );
  };
  source().on('change', adapt);
  adapt();
  $('.device-cloud-type').on('input change keyup', 'input, select, textarea', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(run, PAUSE);
  });
}
