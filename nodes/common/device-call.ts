import type { NodeMessage } from 'node-red';
import type { Chipid, CommandOptions, PushFormat, PushOptions } from '../../src/index';
import { invalidInput, parseChipid, parseFormat } from '../../src/input';
import type { ActionCall, Outcome } from './action';
import {
  DEVICE_TIMEOUT,
  EXPIRES,
  type DeviceCallConfig,
  type ManyConfig,
  type WhenConfig,
} from './action.config';
import { choiceOf } from './choice';
import { addName } from './device-name';
import { asError } from './errors';
import { answerFields, callMany, type CallOne, type FieldsOf } from './many';
import { numberOf } from './values';

/** The device that a message names. The client checks it, whatever the type says. */
export const deviceOf = ({ chipid }: { readonly chipid?: unknown }): Chipid => chipid as Chipid;

/** The time-out of a node that waits for a device, in seconds. */
export const timeoutOf = ({ timeout }: DeviceCallConfig): number =>
  numberOf(timeout, DEVICE_TIMEOUT);

/** When a command is sent, and how long it waits for that. */
export function waitOf(config: WhenConfig): Pick<CommandOptions, 'when' | 'expires'> {
  const when = choiceOf(config.when, 'when', ['now', 'online', 'upload']);
  return when === 'now' ? {} : { when, expires: numberOf(config.expires, EXPIRES) };
}

/** The format of a push: the node's, or the message's. */
export function formatOf({ format }: { format: PushFormat | 'msg' }, msg: NodeMessage): PushFormat {
  const choice = choiceOf(format, 'format', ['MSG', 'HEX', 'AT', 'LUA', 'B64', 'msg']);
  return choice === 'msg' ? parseFormat(msg['format']) : choice;
}

/**
 * Calls the device that a message names, or each of them if the node takes several.
 * @param one calls one device
 * @param more options that the node lets its user choose
 * @param fields what goes on the message, if it is more than the answer and its status
 */
export async function callDevice<C extends ManyConfig, K extends string, T>(
  call: ActionCall<C, K | 'chipid'>,
  one: CallOne<T>,
  more: Pick<PushOptions, 'format' | 'when' | 'expires'> = {},
  fields: FieldsOf<T> = answerFields,
): Promise<Outcome> {
  const { client, config, inputs, msg, signal, onProgress } = call;
  const options = { timeout: timeoutOf(config), signal, onProgress, ...more };
  const device = deviceOf(inputs);
  if (config.many === true) return callMany(client, config, device, options, one, fields);
  if (Array.isArray(device)) {
    throw invalidInput(
      'The chip number is an array. Allow several devices in the node, or split the array first.',
    );
  }
  const chipid = parseChipid(device);
  try {
    const set = fields(await one(chipid, options), chipid);
    // Not in a copy, which would have a hidden class of its own in V8 of Node.js 20.
    set['chipid'] = chipid;
    return { set: addName(set, client, chipid, msg) };
  } catch (error) {
    return failedAbout(call, chipid, error);
  }
}

/** Makes a call about the one device that a message names. If it fails, the message gets the name, too. */
export async function aboutDevice(
  call: Pick<ActionCall<object, 'chipid'>, 'client' | 'inputs' | 'msg'>,
  perform: (chipid: string) => Promise<Outcome>,
): Promise<Outcome> {
  const chipid = parseChipid(deviceOf(call.inputs));
  try {
    return await perform(chipid);
  } catch (error) {
    return failedAbout(call, chipid, error);
  }
}

/** A call about a device has failed: the message gets its name all the same. */
const failedAbout = (
  { client, msg }: Pick<ActionCall<object, string>, 'client' | 'msg'>,
  chipid: string,
  error: unknown,
): Outcome => ({ set: addName({}, client, chipid, msg), always: true, error: asError(error) });
