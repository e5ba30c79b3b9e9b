import type { NodeMessage } from 'node-red';
import { decodeUpload } from '../../src/util/decode';
import { DeviceCloudError } from '../../src/errors';
import { JsonLimitError } from '../../src/util/json-scan';
import type { Datatype } from '../../src/types';
import type { Upload } from '../../src/channel/frames';

/** Makes the message of an upload, with the bytes as they came. */
function rawMessage({ chipid, appid, timestamp, body, replayed, id }: Upload): NodeMessage {
  const message: NodeMessage = { topic: chipid, chipid, appid, timestamp, payload: body };
  return replayed ? Object.assign(message, { replayed, id }) : message;
}

/** The message of an upload, or the error and the message it goes with if its body cannot be decoded. */
export function uploadMessage(
  upload: Upload,
  datatype: Datatype,
): { message: NodeMessage; error?: DeviceCloudError } {
  const message = rawMessage(upload);
  try {
    message.payload = decodeUpload(upload.body, datatype);
    return { message };
  } catch (reason) {
    const what = reason instanceof JsonLimitError ? reason.what : 'not JSON';
    const error = new DeviceCloudError(
      'INVALID_RESPONSE',
      `An upload of device ${upload.chipid} is ${what}. Its bytes are in the message of this error; ` +
        'choose another output, such as auto-detect, if the device uploads other data, too.',
    );
    return { message, error };
  }
}
