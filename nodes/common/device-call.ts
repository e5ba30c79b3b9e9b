import type { Answer, CallOptions, Chipid } from '../../src/index';
import { dropLeadingZeros } from '../../src/input';
import type { ActionCall, Outcome } from './action';
import { DEVICE_TIMEOUT, type DeviceCallConfig } from './action.config';
import { numberOf } from './values';

/** The device that a message names. The client checks it, whatever the type says. */
export const deviceOf = ({ chipid }: { readonly chipid?: unknown }): Chipid => chipid as Chipid;

/** A chip number that the client has accepted, as messages carry it: digits, no zeros in front. */
export const chipidText = (chipid: Chipid): string => dropLeadingZeros(String(chipid));

/** The time-out of a node that waits for a device, in seconds. */
export const timeoutOf = ({ timeout }: DeviceCallConfig): number =>
  numberOf(timeout, DEVICE_TIMEOUT);

/**
 * Calls the device that a message names, and makes the answer the message's payload.
 * @param more further fields of the message, or another payload
 */
export async function callDevice<C extends DeviceCallConfig, K extends string, T>(
  { config, inputs, signal }: ActionCall<C, K | 'chipid'>,
  call: (chipid: Chipid, options: CallOptions) => Promise<Answer<T>>,
  more: (answer: Answer<T>, chipid: string) => Readonly<Record<string, unknown>> = () => ({}),
): Promise<Outcome> {
  const device = deviceOf(inputs);
  const answer = await call(device, { timeout: timeoutOf(config), signal });
  const chipid = chipidText(device);
  const { body, statusCode } = answer;
  return { set: { payload: body, chipid, statusCode, ...more(answer, chipid) } };
}
