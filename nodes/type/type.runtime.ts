import type { Node } from 'node-red';
import {
  bytesDecoder,
  type Charset,
  decodeProblemText,
  DescriptionError,
  type FieldsDecoder,
  notConfigured,
  oneLine,
  pairsDecoder,
  readLimits,
  show,
  type ToText,
  type UploadDecoder,
  uploadText,
} from '../../src/index';
import type { Runtime } from '../common/action';
import { deployType, type DeviceType, type TypeNode } from '../common/device-types';
import { messageOf } from '../common/errors';
import { readProperties } from '../common/settings';
import { readText } from '../common/shared.config';
import { CHOICES, DEFAULTS, readPins, readUnits, type TypeConfig } from './type.config';

/** A part of a Buffer is one, too: to make another takes as long as to read a field. */
const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);

const TO_TEXT: Readonly<Record<Charset, ToText>> = {
  'utf-8': (bytes) => uploadText(bufferOf(bytes), 'utf-8'),
  gbk: (bytes) => uploadText(bufferOf(bytes), 'gbk'),
};

/** Decodes with a small program that was parsed once. */
function decoderOf(decode: FieldsDecoder, typeId: string): UploadDecoder {
  const decoder: UploadDecoder = (body, charset) => {
    const decoded = decode(body, TO_TEXT[charset]);
    return 'value' in decoded ? decoded : { problem: decodeProblemText(decoded.problem) };
  };
  return Object.assign(decoder, { typeId });
}

/** @throws Error whose message continues a sentence */
function readDecoder(config: TypeConfig, typeId: string): UploadDecoder | undefined {
  const { pairs, equals, bytes } = config;
  switch (config.decode) {
    case 'pairs':
      return decoderOf(pairsDecoder(pairs, equals), typeId);
    case 'bytes':
      return decoderOf(bytesDecoder(bytes), typeId);
    default:
      return undefined;
  }
}

function whyOf(error: unknown): string {
  const at = error instanceof DescriptionError ? error.problem.at : undefined;
  const where = at === undefined ? '' : `its bytes are wrong at character ${at + 1}: `;
  return where + messageOf(error).replace(/^INVALID_INPUT: |\.$/g, '');
}

/** Reads the properties of a type. What is wrong with them is its `problem`. */
function readType(node: Node, def: Partial<TypeConfig>): DeviceType {
  const name = readText(node.name)?.trim() ?? '';
  try {
    const { config, problem } = readProperties<TypeConfig>(def, DEFAULTS, CHOICES);
    if (problem !== undefined) throw new Error(problem);
    const pins = readPins(config.pins);
    if ('wrong' in pins) throw new Error(`${show(pins.wrong)} is no name of a pin with its number`);
    const read = readUnits(config.units);
    if ('wrong' in read) throw new Error(`${show(read.wrong)} is no field with its unit`);
    const { units } = read;
    const { limits, wrong } = readLimits(config.limits);
    for (const line of wrong)
      node.warn(
        `The type ${show(name || node.id)} has a limit that cannot be read and is left out: ${show(line)}. A limit looks like temperature > 30 for 60 clear < 28.`,
      );
    return {
      name,
      decode: readDecoder(config, node.id),
      units: Object.keys(units).length > 0 ? units : undefined,
      pins: pins.pins,
      limits: limits.length > 0 ? limits : undefined,
      withRaw: config.withRaw,
    };
  } catch (error) {
    const why = oneLine(whyOf(error), 500);
    const message = `The type ${show(name || node.id)} cannot be used: ${why}. Open it and correct that.`;
    return { name, problem: notConfigured(message), pins: new Map() };
  }
}

/** The config node: what the devices of one type send and have. */
export const runtime: Runtime<TypeConfig, TypeNode> = (RED) => (node, def) => {
  node.deviceType = readType(node, def);
  const { name, problem } = node.deviceType;
  if (problem) node.error(problem.message);
  if (deployType(RED, node))
    node.warn(
      `Another type is called ${show(name)}, too: uploads of devices to which the book gives it are not decoded. Rename one.`,
    );
};
