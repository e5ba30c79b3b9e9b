import { isDeviceCloudError } from '../../src/index';
import { actionRuntime } from '../common/action';
import { choiceOf } from '../common/choice';
import { answerFields, callDevice } from '../common/device-call';
import type { CallFields, CallOne } from '../common/many';
import { CHIPID_INPUT } from '../common/inputs';
import type { RefreshConfig } from './refresh.config';

/** Turns a missing answer of the device into an answer, unless the call was not sent. */
function offlineAnswer(error: unknown): CallFields {
  if (!isDeviceCloudError(error, 'TIMEOUT', 'GATEWAY') || !error.uncertain) throw error;
  const { message, statusCode } = error;
  const fields = { payload: { status: null, msg: message }, online: false };
  return statusCode === undefined ? fields : { ...fields, statusCode };
}

/** Has the service probe devices; it may take 10 seconds (endpoint 11). */
export const runtime = actionRuntime<RefreshConfig, 'chipid'>({
  api: 'open',
  inputs: () => CHIPID_INPUT,
  async perform(call) {
    const offline = choiceOf(call.config.offline, 'offline', ['error', 'answer']);
    const refresh: CallOne = async (chipid, options) => {
      const answer = await call.client.refresh(chipid, options);
      return { ...answerFields(answer), online: answer.body.status === 'online' };
    };
    return callDevice(call, (chipid, options) =>
      offline === 'answer'
        ? refresh(chipid, options).catch(offlineAnswer)
        : refresh(chipid, options),
    );
  },
});
