import * as rows from '../common/editor/rows';
import type { EditorNode } from '../common/editor/red';
import { t } from '../common/editor/texts';
import { isVariable, readText, type TYPE_TYPE } from '../common/shared.config';
import {
  bytesDecoder,
  DescriptionError,
  pairsDecoder,
  type DecodeProblem,
  type FieldsDecoder,
} from '../../src/fleet/types';
import { readLimits } from '../../src/fleet/limits';
import { prepareTry, type Trial } from './try.editor';
import { CHOICES, DEFAULTS, readPins, readUnits, type TypeConfig } from './type.config';

type Config = TypeConfig & rows.Named;
type Node = EditorNode<Config>;
type Decode = TypeConfig['decode'];

const decodeOf = (node: Node): Decode => (rows.current(node, 'decode') || 'none') as Decode;

const decodes =
  (by: Decode) =>
  (node: Node): boolean =>
    decodeOf(node) === by;

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
function tryHere(bytes: Uint8Array, charset: string): ReturnType<Trial['decode']> {
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
    prepareTry({
      decode: tryHere,
      units: () => {
        const read = readUnits(typed('units'));
        return 'units' in read ? read.units : {};
      },
    });
  },
});
