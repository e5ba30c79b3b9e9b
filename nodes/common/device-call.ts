import type { Answer, Chipid, CommandOptions } from '../../src/index';
import { dropLeadingZeros, invalidInput, parseChipid } from '../../src/input';
import type { ActionCall, Outcome } from './action';
import {
  DEVICE_TIMEOUT,
  EXPIRES,
  type DeviceCallConfig,
  type ManyConfig,
  type WhenConfig,
} from './action.config';
import { nameField } from './device-name';
import { asError } from './errors';
import { callMany, type CallFields, type CallOne } from './many';
import { numberOf } from './values';

/** The device that a message names. The client checks it, whatever the type says. */
export const deviceOf = ({ chipid }: { readonly chipid?: unknown }): Chipid => chipid as Chipid;

/** A chip number that the client has accepted, as messages carry it: digits, no zeros in front. */
export const chipidText = (chipid: Chipid): string => dropLeadingZeros(String(chipid));

/** The time-out of a node that waits for a device, in seconds. */
export const timeoutOf = ({ timeout }: DeviceCallConfig): number =>
  numberOf(timeout, DEVICE_TIMEOUT);

/** When a command is sent, and how long it waits for that. */
export const waitOf = ({ when, expires }: WhenConfig): Pick<CommandOptions, 'when' | 'expires'> =>
  when === undefined || when === 'now' ? {} : { when, expires: numberOf(expires, EXPIRES) };

/** The fields of an answer. */
export const answerFields = <T>({ body, statusCode }: Answer<T>): CallFields => ({
  payload: body,
  statusCode,
});

/**
 * Calls the device that a message names, or each of them if the node takes several.
 * @param one calls one device
 * @param wait when the command is sent, of a node that lets its user choose
 */
export async function callDevice<C extends ManyConfig, K extends string>(
  call: ActionCall<C, K | 'chipid'>,
  one: CallOne,
  wait: Pick<CommandOptions, 'when' | 'expires'> = {},
): Promise<Outcome> {
  const { client, config, inputs, msg, signal, onProgress } = call;
  const options = { timeout: timeoutOf(config), signal, onProgress, ...wait };
  const device = deviceOf(inputs);
  if (config.many === true) return callMany(config, device, options, one);
  if (Array.isArray(device)) {
    throw invalidInput(
      'The chip number is an array. Allow several devices in the node, or split the array first.',
    );
  }
  const chipid = parseChipid(device);
  try {
    const fields = await one(chipid, options);
    return { set: { ...fields, chipid, ...nameField(client, chipid, msg) } };
  } catch (error) {
    return { set: nameField(client, chipid, msg), always: true, error: asError(error) };
  }
}
