import type { NodeMessage } from 'node-red';
import {
  type Charset,
  type Datatype,
  type DecodedBody,
  decodeUpload,
  DeviceCloudError,
  JsonLimitError,
  show,
  type Upload,
} from '../../src/index';
import type { DeviceType } from './device-types';
import { deviceText } from './errors';

interface Decoding {
  readonly datatype: Datatype;
  /** Of text that is not UTF-8. */
  readonly charset: Charset;
  /** The type of the device comes before the datatype. */
  readonly type: DeviceType | undefined;
}

/**
 * Decodes the body of an upload, live, recovered, the latest or of a history: by the type of its device, if that has a decoder.
 * @returns the value, or what is wrong with it: without a type, to end the sentence "the body is …"
 */
export function decodeBody(bytes: Buffer, { datatype, charset, type }: Decoding): DecodedBody {
  if (type?.problem) return { problem: type.problem.message.replace(/^[A-Z_]+: /, '') };
  if (type?.decode) return type.decode(bytes, charset);
  try {
    return { value: decodeUpload(bytes, datatype, charset) };
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.what : 'not JSON' };
  }
}

/** Whether a body is decoded by the type of its device. */
export const isTyped = (type: DeviceType | undefined): type is DeviceType =>
  type !== undefined && (type.decode !== undefined || type.problem !== undefined);

/**
 * The error for a body that cannot be decoded.
 * @param what it is, at the beginning of a sentence
 * @param advice without a type
 */
export function undecodable(
  what: string,
  problem: string,
  type: DeviceType | undefined,
  advice = '',
): DeviceCloudError {
  const text = type?.problem
    ? `${what} cannot be decoded. ${problem}`
    : isTyped(type)
      ? `${what} cannot be decoded by the type ${show(type.name)}: ${problem}.`
      : `${what} is ${problem}. ${advice}`.trimEnd();
  return new DeviceCloudError('INVALID_RESPONSE', text);
}

/** What a type adds to a message: the units of the fields, and the bytes if it says so. */
export function typeFields(
  type: DeviceType | undefined,
  raw: Buffer,
): { raw?: Buffer; units?: Record<string, string> } {
  return {
    ...(type?.withRaw && { raw }),
    // A copy, since a flow may change it.
    ...(type?.units && { units: { ...type.units } }),
  };
}

/** Fields that an earlier node may have left for a device of another type. */
export const staleFields = (type: DeviceType | undefined): string[] =>
  type ? ['units', 'raw'] : [];

/** Makes the message of an upload, with the bytes as they came. */
function rawMessage(
  { chipid, appid, timestamp, body, type, replayed, id, altered }: Upload,
  name: string | undefined,
): NodeMessage {
  const message: NodeMessage = { topic: chipid, chipid, appid, timestamp, payload: body };
  if (type !== undefined) message['type'] = type;
  if (name !== undefined) message['name'] = name;
  if (altered) message['altered'] = true;
  return replayed ? Object.assign(message, { replayed, id }) : message;
}

/** The message of an upload, and the error it goes with if its body cannot be decoded. */
export interface UploadMessage {
  message: NodeMessage;
  error?: DeviceCloudError;
}

/**
 * The message of an upload, or the error and the message it goes with if its body cannot be decoded.
 * @param name the device's, if a list has shown it
 */
export function uploadMessage(
  upload: Upload,
  decoding: Decoding,
  name: string | undefined,
): UploadMessage {
  const { type } = decoding;
  const { chipid, body } = upload;
  const message = rawMessage(upload, name);
  // As typeFields does, without an object in between: this runs for each upload.
  if (type?.withRaw) message['raw'] = body;
  if (type?.units) message['units'] = { ...type.units };
  const decoded = decodeBody(body, decoding);
  if ('value' in decoded) {
    message.payload = decoded.value;
    return { message };
  }
  if (type) message['raw'] = body;
  const error = undecodable(
    `An upload of ${deviceText(name, chipid)}`,
    decoded.problem,
    type,
    'Its bytes are in the message of this error; choose another output, such as auto-detect, if the device uploads other data, too.',
  );
  return { message, error };
}
