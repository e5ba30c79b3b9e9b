import { pickDevice } from '../common/editor/device-rows';
import { showRows, type ResultRow } from '../common/editor/result-rows';
import { appPath, explainFailure, getRoute } from '../common/editor/routes';
import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { plain, t } from '../common/editor/texts';
import { APP_TYPE, isObject, isVariable, readText, type TYPE_TYPE } from '../common/shared.config';
import {
  bytesDecoder,
  DescriptionError,
  pairsDecoder,
  type DecodeProblem,
  type FieldsDecoder,
} from '../../src/fleet/types';
import { readLimits } from '../../src/fleet/limits';
import {
  CHOICES,
  DEFAULTS,
  fieldTexts,
  readPins,
  readUnits,
  type TriedUpload,
  type TryResult,
  type TypeConfig,
} from './type.config';

type Config = TypeConfig & rows.Named;
type Node = EditorNode<Config>;

const decodes = (by: TypeConfig['decode']) => (node: Node) => rows.current(node, 'decode') === by;

const problemText = ({ code, values }: DecodeProblem): string => t(`problem.${code}`, values);

/** Why a description is invalid, and at which of its characters. */
function descriptionProblem(make: () => unknown): DecodeProblem | undefined {
  try {
    make();
    return undefined;
  } catch (error) {
    if (error instanceof DescriptionError) return error.problem;
    throw error;
  }
}

function bytesError(description: string): string | undefined {
  if (isVariable(description)) return undefined;
  const problem = descriptionProblem(() => bytesDecoder(description));
  return problem && t('error.at', { at: (problem.at ?? 0) + 1, what: problemText(problem) });
}

function pairsError(_value: string, node: Node): string | undefined {
  const values = [rows.current(node, 'pairs'), rows.current(node, 'equals')] as const;
  if (values.some(isVariable)) return undefined;
  const problem = descriptionProblem(() => pairsDecoder(...values));
  return problem && problemText(problem);
}

function pinsError(text: string): string | undefined {
  if (isVariable(text)) return undefined;
  const pins = readPins(text);
  return 'wrong' in pins ? t('error.pins', { part: pins.wrong }) : undefined;
}

function unitsError(text: string): string | undefined {
  if (isVariable(text)) return undefined;
  const units = readUnits(text);
  return 'wrong' in units ? t('error.units', { part: units.wrong }) : undefined;
}

function limitsError(text: string): string | undefined {
  if (isVariable(text)) return undefined;
  const [line] = readLimits(text).wrong;
  return line === undefined ? undefined : t('error.limits', { line });
}

/** The book names a type by its name, so that no two may have the same. */
function nameError(value: string, { id }: Node): string | undefined {
  const name = value.trim();
  const taken = new Set<string>();
  RED.nodes.eachConfig((other) => {
    const isOther = other.type === ('device-cloud-type' satisfies typeof TYPE_TYPE);
    if (isOther && other.id !== id) taken.add(readText(other.name)?.trim() ?? '');
  });
  return name !== '' && taken.has(name) ? t('error.name') : undefined;
}

const input = (property: keyof Config): JQuery => $(`#node-config-input-${property}`);
const typed = (property: keyof Config): string => rows.fieldValue(input(property));

/** What is typed, to be tried; undefined if uploads are not decoded. @throws DescriptionError */
function decoderOfForm(): FieldsDecoder | undefined {
  if (typed('decode') === 'pairs') return pairsDecoder(typed('pairs'), typed('equals'));
  return typed('decode') === 'bytes' ? bytesDecoder(typed('bytes')) : undefined;
}

const toText =
  (charset: string) =>
  (bytes: Uint8Array): string | undefined => {
    for (const each of new Set(['utf-8', charset]))
      try {
        return new TextDecoder(each, { fatal: true, ignoreBOM: true }).decode(bytes);
      } catch {
        // Not text in this charset.
      }
    return undefined;
  };

/** Tries the typed decoder, here in the browser. */
function tryHere(bytes: Uint8Array, charset: string): TryResult | undefined {
  try {
    const decoded = decoderOfForm()?.(bytes, toText(charset));
    if (!decoded || 'value' in decoded) return decoded;
    return { problem: problemText(decoded.problem) };
  } catch (error) {
    if (!(error instanceof DescriptionError)) throw error;
    const at = typed('decode') === 'bytes' ? bytesError(typed('bytes')) : undefined;
    return { problem: at ?? problemText(error.problem) };
  }
}

/** Milliseconds from a key to its result: the next key may come before. */
const PAUSE = 250;

const part = (name: string): JQuery => $(`#device-cloud-try-${name}`);
const chosen = (name: string): string => rows.fieldValue(part(name));

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

function resultRows(result: TryResult | undefined): ResultRow[] {
  if (!result) return [{ icon: 'fa-info-circle', text: t('try.none') }];
  if ('problem' in result) return failure(result.problem);
  const read = readUnits(typed('units'));
  const fields = fieldTexts(result.value, 'units' in read ? read.units : {});
  return fields.map((text) => ({ icon: 'fa-check', text: plain(text) }));
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
  if (chosen('source') !== 'latest') {
    const text = chosen('typed');
    if (text === '') return [];
    const isText = chosen('source') === 'text';
    const bytes = isText ? new TextEncoder().encode(text) : fromHex(text);
    return bytes ? { bytes, charset: 'utf-8' } : failure(t('common.error.hex'));
  }
  const id = chosen('app');
  const chipid = chosen('device').trim();
  if (id === '' || chipid === '') return [];
  try {
    const answer: unknown = await getRoute(`${appPath(id, 'devices', chipid)}?upload`);
    const upload = isObject(answer) ? (answer['upload'] as TriedUpload | undefined) : undefined;
    const bytes = upload && fromHex(upload.hex);
    if (!bytes) return failure(t('try.no-upload'));
    const charset = (RED.nodes.node(id) as { charset?: string }).charset || 'utf-8';
    part('bytes').text(shownUpload(bytes, upload.hex, charset));
    return { bytes, charset };
  } catch (error) {
    const isUnknown = isObject(error) && error['status'] === 404;
    return isUnknown ? failure(t('try.no-upload')) : reasonOf(error);
  }
}

async function rowsOf(): Promise<ResultRow[]> {
  const upload = await uploadOf();
  return Array.isArray(upload) ? upload : resultRows(tryHere(upload.bytes, upload.charset));
}

/** Offers the applications, the only one at once. */
function offerApps(): void {
  RED.nodes.eachConfig((config) => {
    if (config.type !== APP_TYPE) return;
    const option = $('<option>', { value: config.id });
    option.text(RED.utils.getNodeLabel(config, config.id)).appendTo(part('app'));
  });
}

/** Shows, while one types, what becomes of an upload. */
function prepareTry(): void {
  offerApps();
  pickDevice(part('device'), () => part('app'));
  let latest = 0;
  let timer: number | undefined;
  const run = (): void => {
    const mine = ++latest;
    part('bytes').text('');
    void rowsOf().then((shown) => {
      // An answer may come after that to a later question.
      if (mine === latest) showRows(part('result'), shown);
    });
  };
  const adapt = (): void => {
    const isLatest = chosen('source') === 'latest';
    rows.show('.device-cloud-latest-only', isLatest);
    rows.show('.device-cloud-typed-only', !isLatest);
    part('typed').attr(
      'placeholder',
      chosen('source') === 'hex' ? '08 66 50' : 'temperature=21.5;battery=80',
    );
  };
  part('source').on('change', adapt);
  adapt();
  $('.device-cloud-type').on('input change keyup', 'input, select, textarea', () => {
    window.clearTimeout(timer);
    timer = window.setTimeout(run, PAUSE);
  });
}

RED.nodes.registerType<Config>('device-cloud-type' satisfies typeof TYPE_TYPE, {
  category: 'config',
  icon: 'device-cloud-type.svg',
  color: '#a58bf0',
  defaults: {
    name: rows.required('', 'common.label.name', nameError),
    decode: rows.choice(DEFAULTS.decode, 'label.decode', CHOICES.decode),
    pairs: rows.required(DEFAULTS.pairs, 'label.pairs', pairsError, decodes('pairs')),
    equals: rows.required(DEFAULTS.equals, 'label.equals', pairsError, decodes('pairs')),
    bytes: rows.described(
      'bytes',
      rows.required(DEFAULTS.bytes, 'label.bytes', bytesError, decodes('bytes')),
    ),
    units: rows.described('units', rows.checked(DEFAULTS.units, 'label.units', unitsError)),
    limits: rows.described('limits', rows.checked(DEFAULTS.limits, 'label.limits', limitsError)),
    pins: rows.described('pins', rows.checked(DEFAULTS.pins, 'common.label.pins', pinsError)),
    callbacks: rows.described(
      'callbacks',
      rows.checked(DEFAULTS.callbacks, 'label.callbacks', () => undefined),
    ),
    withRaw: rows.flag(DEFAULTS.withRaw, 'label.raw'),
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    return readText(this.name) || t('paletteLabel');
  },
  oneditprepare: function () {
    rows.opened(this);
    input('decode').on('change', () => {
      // Their validity depends on it.
      for (const property of ['pairs', 'equals', 'bytes'] as const)
        input(property).trigger('validate');
    });
    const hint = (property: 'bytes' | 'limits', errorOf: rows.Check): void => {
      const show = (): void =>
        void $(`#device-cloud-${property}-error`).text(errorOf(typed(property)) ?? '');
      input(property).on('input change', show);
      show();
    };
    hint('bytes', (text) => (text.trim() === '' ? undefined : bytesError(text)));
    hint('limits', limitsError);
    prepareTry();
  },
});
