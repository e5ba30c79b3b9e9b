import type { NodeMessage } from 'node-red';
import {
  DeviceCloudError,
  decodeUpload,
  type Charset,
  type Datatype,
  type Upload,
} from '../../src/for-nodes';
import { JsonLimitError } from '../../src/input';
import { deviceText } from './errors';

/**
 * Decodes the body of an upload, live or from the history.
 * @param charset of text that is not UTF-8
 * @returns the value, or what is wrong with it, to end the sentence "the body is …"
 */
export function decodeBody(
  bytes: Buffer,
  datatype: Datatype,
  charset: Charset,
): { value: unknown } | { problem: string } {
  try {
    return { value: decodeUpload(bytes, datatype, charset) };
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.what : 'not JSON' };
  }
}

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

/**
 * The message of an upload, or the error and the message it goes with if its body cannot be decoded.
 * @param charset of text that is not UTF-8
 * @param name the device's, if a list has shown it
 */
export function uploadMessage(
  upload: Upload,
  datatype: Datatype,
  charset: Charset,
  name: string | undefined,
): { message: NodeMessage; error?: DeviceCloudError } {
  const message = rawMessage(upload, name);
  const decoded = decodeBody(upload.body, datatype, charset);
  if ('value' in decoded) return { message: Object.assign(message, { payload: decoded.value }) };
  const error = new DeviceCloudError(
    'INVALID_RESPONSE',
    `An upload of ${deviceText(name, upload.chipid)} is ${decoded.problem}. Its bytes are in the message of this ` +
      'error; choose another output, such as auto-detect, if the device uploads other data, too.',
  );
  return { message, error };
}
