import { isDeviceCloudError } from '../../src/index';
import { actionRuntime } from '../common/action-runtime';
import { choiceOf } from '../common/choice';
import { callDevice } from '../common/device-call';
import { CHIPID_INPUT } from '../common/inputs';
import { answerFields, type CallOne, type DeviceAnswer, type FieldsOf } from '../common/many';
import type { RefreshConfig } from './refresh.config';

/** The result of a refresh: the device's answer, or that it did not answer, with a null status. */
interface Refreshed {
  status: string | null;
  msg: string;
}

/** Turns a missing answer of the device into an answer, unless the call was not sent. */
function offlineAnswer(error: unknown): DeviceAnswer<Refreshed> {
  if (!isDeviceCloudError(error, 'TIMEOUT', 'GATEWAY') || !error.uncertain) throw error;
  const { message, statusCode } = error;
  return { body: { status: null, msg: message }, statusCode };
}

const fields: FieldsOf<Refreshed> = (answer) => ({
  ...answerFields(answer),
  online: answer.body.status === 'online',
});

/** Has the service probe devices; it may take 10 seconds (endpoint 11). */
export const runtime = actionRuntime<RefreshConfig, 'chipid'>({
  api: 'open',
  inputs: () => CHIPID_INPUT,
  async perform(call) {
    const offline = choiceOf(call.config.offline, 'offline', ['error', 'answer']);
    const refresh: CallOne<Refreshed> = (chipid, options) => call.client.refresh(chipid, options);
    const answered: CallOne<Refreshed> = (chipid, options) =>
      refresh(chipid, options).catch(offlineAnswer);
    return callDevice(call, offline === 'answer' ? answered : refresh, undefined, fields);
  },
});
