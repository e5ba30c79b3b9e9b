import { isDeviceCloudError } from '../../src/index';
import { defineAction, type CallAnswer } from '../common/action';
import { answerFields, performPlan } from '../common/device-call';
import { CHOICES, DEFAULTS } from './refresh.config';

/** The result of a refresh: the device's answer, or that it did not answer, with a null status. */
interface Refreshed {
  status: string | null;
  msg: string;
}

/** Turns a missing answer of the device into an answer, unless the call was not sent. */
function offlineAnswer(error: unknown): CallAnswer<Refreshed> {
  if (!isDeviceCloudError(error, 'TIMEOUT', 'GATEWAY') || !error.uncertain) throw error;
  const { message, statusCode } = error;
  return { body: { status: null, msg: message }, statusCode };
}

/** Has the service probe devices; it may take 10 seconds (endpoint 11). */
export const action = defineAction({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs: () => ['chipid'],
  perform(call) {
    const { config, inputs } = call;
    return performPlan(call, {
      call: 'refresh',
      device: inputs.chipid,
      args: [],
      fields: (answer: CallAnswer<Refreshed>) => ({
        ...answerFields(answer),
        online: answer.body.status === 'online',
      }),
      ...(config.offline === 'answer' && { onError: offlineAnswer }),
    });
  },
});
