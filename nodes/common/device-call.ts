import { once } from 'node:events';
import type { NodeMessage } from 'node-red';
import {
  type Answer,
  type CallOptions,
  type DeviceCloudClient,
  DeviceCloudError,
  endOf,
  errorOfEnd,
  isDeviceCloudError,
  parseLevel,
  plainError,
  type PushOptions,
  type SavedCall,
  valueOfResult,
  withOrigin,
} from '../../src/index';
import type { ActionCall, CallAnswer, CallFields, Outcome, Plan } from './action';
import { asError, closed, messageOf } from './errors';
import { addName, chipidsOf, deviceIn, isForMany, readDevice } from './inputs';
import { decodeMessage, encodeMessage, type KeptCall } from './kept-call';
import type { ManyConfig, WhenConfig } from './shared.config';

type AnyCall = ActionCall<object, string>;

/** The answer as the payload, its status, and its warning. */
export function answerFields({ body, statusCode, warning }: CallAnswer): CallFields {
  const fields = statusCode === undefined ? { payload: body } : { payload: body, statusCode };
  return warning === undefined ? fields : { ...fields, warning };
}

/** The arguments of a plan's call after the device. @param device none or one chip number */
const argumentsOf = (
  { args, argsOf }: Plan,
  [chipid]: readonly string[],
  client: DeviceCloudClient,
): readonly unknown[] => (chipid === undefined ? args : (argsOf?.(chipid, client) ?? args));

/** Makes the call of a plan. @param device none or one chip number */
function makeCall(
  { client }: Pick<AnyCall, 'client'>,
  plan: Plan,
  device: readonly string[],
  options: CallOptions,
): Promise<Answer<never>> {
  const { call, onError } = plan;
  const args = argumentsOf(plan, device, client);
  const made: unknown = Reflect.apply(client[call], client, [...device, ...args, options]);
  const answer = made as Promise<Answer<never>>;
  return onError ? (answer.catch(onError) as Promise<Answer<never>>) : answer;
}

/** The calls that may wait for their device. */
const MAY_WAIT: ReadonlySet<Plan['call']> = new Set(['push', 'setGpioEdge', 'pulseGpio', 'reboot']);

/** Adds to the options of a plan those that nodes have as properties: how long the call may take, and for what it waits. */
function addProperties(plan: Plan, config: Partial<ManyConfig & WhenConfig>): void {
  const { timeout, when, expires, replace } = config;
  const options = (plan.options ??= {});
  if (timeout !== undefined) options.timeout = 1000 * Number(timeout);
  if (when === undefined || when === 'now' || !MAY_WAIT.has(plan.call)) return;
  Object.assign(options, { when, expires: 1000 * Number(expires), replace });
}

/** Adds what ends a call early, and what shows its progress, to the options of its plan. */
function optionsOf(
  { node, signal, onProgress }: AnyCall,
  { options = {} }: Plan,
  kept?: SavedCall,
): PushOptions {
  // A plan is made for each message: a copy would cost more than all else that is done with its options.
  if (options.when === undefined && !kept) return Object.assign(options, { signal, onProgress });
  const origin = { node: node.id, ...(kept && { saved: kept }) };
  return withOrigin({ ...options, signal, onProgress }, origin);
}

/** Keeps a call whose commands may wait, or may outlive this process: in a cluster, another one may have the device. */
function keep(
  { app, node, msg, onKept, client }: AnyCall,
  plan: Plan,
  { chipids, isMany }: Devices,
): SavedCall | undefined {
  const { call, options } = plan;
  const { keeper } = app;
  if ((options?.when === undefined && !app.isShared) || !keeper) return undefined;
  let encoded: Record<string, unknown> | undefined;
  const what = (chipid: string): KeptCall => ({
    plan: { call, args: argumentsOf(plan, [chipid], client), ...(options && { options }) },
    isMany,
    msg: (encoded ??= encodeMessage(msg)),
  });
  const kept = keeper.add(node.id, chipids, what);
  onKept(kept);
  return kept;
}

/** Makes the call of a plan: about no device, about one or, if the node takes several, about each of them. */
export function performPlan(call: AnyCall, plan: Plan): Promise<Outcome> {
  const { app, config } = call;
  addProperties(plan, config);
  if (!('device' in plan)) return callService(call, plan);
  const devices = devicesOfCall(call, plan.device);
  const make = (): Promise<Outcome> => callDevices(call, plan, devices, keep(call, plan, devices));
  const ready = plan.options?.when === undefined ? undefined : app.keeper?.ready;
  return ready ? afterEarlier(call, plan, ready).then(make) : make();
}

/** Waits until the commands of earlier times are known, unless the node closes before. */
async function afterEarlier(
  { config, signal }: AnyCall,
  { device }: Plan,
  ready: Promise<void>,
): Promise<void> {
  // There may be thousands, none of which has anything to do when the node closes later.
  const isReady = new AbortController();
  await Promise.race([ready, once(signal, 'abort', { signal: isReady.signal })]);
  isReady.abort();
  if (signal.aborted) throw closed(deviceIn(config, device));
}

async function callService(call: AnyCall, plan: Plan): Promise<Outcome> {
  const fields = plan.fields ?? answerFields;
  const answer = await makeCall(call, plan, [], optionsOf(call, plan));
  return { set: fields(answer, '', call.client) };
}

/** Reads what was kept: its message, and how to go on with the call. */
export function readKept(saved: unknown): {
  msg: NodeMessage;
  goOn: (call: AnyCall, kept: SavedCall) => Promise<Outcome>;
} {
  const { plan, isMany, msg } = saved as KeptCall;
  // What it was to replace is gone, and what came later stays.
  const { replace: _, ...options } = plan.options ?? {};
  return {
    msg: decodeMessage(msg),
    async goOn(call, kept) {
      if (kept.chipids.every((chipid) => !kept.of(chipid))) {
        kept.letGo();
        throw new DeviceCloudError('UNREACHABLE', 'Another process goes on with the command.');
      }
      const again: Plan = { ...plan, options };
      // Of a call to several devices, each goes on by itself.
      return callDevices(call, again, { chipids: kept.chipids, isMany, atOnce: 1 }, kept);
    },
  };
}

/** What a command has ended with in an earlier process, or in one of a cluster for another one; undefined if it is to be sent. */
function endBefore(
  { client }: AnyCall,
  plan: Plan,
  kept: SavedCall | undefined,
  chipid: string,
): ReturnType<typeof endOf> {
  const saved = kept?.of(chipid);
  const end = saved && endOf(saved, client.fleet.titleOf(chipid));
  if (end && 'error' in end && !saved.end && plan.call === 'pulseGpio')
    end.error.message += leftBy(plan, chipid, client);
  return end;
}

/** At which level a pulse that was broken off may have left its pin. */
function leftBy(plan: Plan, chipid: string, client: DeviceCloudClient): string {
  const [pin, level] = argumentsOf(plan, [chipid], client);
  return ` Pin ${String(pin)} may have been left at ${parseLevel(level) === 1 ? 'high (1)' : 'low (0)'}: check it.`;
}

/** The calls whose answer may be doubtful: a warning that is on the message is an earlier one's. */
const MAY_WARN: ReadonlySet<Plan['call']> = new Set(['setGpioEdge', 'pulseGpio', 'reboot']);

/** Does more than a call about one device. @param device its chip number, as it came */
export const aboutDevice = async (
  call: AnyCall,
  device: unknown,
  perform: (chipid: string) => Outcome | Promise<Outcome>,
): Promise<Outcome> => about(call, readDevice(call.config, device), perform);

async function about(
  call: AnyCall,
  chipid: string,
  perform: (chipid: string) => Outcome | Promise<Outcome>,
): Promise<Outcome> {
  try {
    return await perform(chipid);
  } catch (error) {
    return failedAbout(call, chipid, error);
  }
}

/** A call about a device has failed: the message gets the device's name all the same. */
const failedAbout = (
  { client, msg }: AnyCall,
  chipid: string,
  error: unknown,
  fields: CallFields = {},
): Outcome => ({
  set: addName(fields, client, chipid, msg),
  error: asError(error),
});

/** The result of one device, as an element of the payload. */
interface Result {
  chipid: string;
  ok: boolean;
  payload?: unknown;
  error?: { code: string | undefined; message: string };
  statusCode?: number;
  /** Of a failure: whether the device may have acted. */
  uncertain?: boolean;
  /** Of a success that is doubtful. */
  warning?: unknown;
}

function failed(chipid: string, thrown: unknown): Result {
  const known = isDeviceCloudError(thrown) ? thrown : undefined;
  const error = { code: known?.code, message: messageOf(thrown) };
  // Without a reply, the device may have acted: its push was accepted.
  const uncertain = known?.code === 'NO_REPLY' || (known?.uncertain ?? true);
  const result: Result = { chipid, ok: false, error, uncertain };
  return withStatus(result, known?.statusCode);
}

/** Adds the status of an answer: not to a copy, which would have a hidden class of its own in V8 of Node.js 20. */
function withStatus(result: Result, statusCode: unknown): Result {
  if (typeof statusCode === 'number') result.statusCode = statusCode;
  return result;
}

const numbers = (results: readonly Result[], uncertain: boolean): string[] =>
  results.filter((result) => result.uncertain === uncertain).map(({ chipid }) => chipid);

/** The message after a call to several devices; an error only if none of them succeeded. */
function outcomeOf(
  chipids: readonly string[],
  settled: readonly PromiseSettledResult<Result>[],
): Outcome {
  const errors: unknown[] = [];
  const results = settled.map((result, index): Result => {
    if (result.status === 'fulfilled') return result.value;
    errors[index] = result.reason;
    return failed(chipids[index] as string, result.reason);
  });
  const set = {
    payload: results,
    failed: numbers(results, false),
    uncertain: numbers(results, true),
  };
  if (results.length === 0 || results.some(({ ok }) => ok)) return { set };
  return { set, error: asError(errors[0]) };
}

/** The devices of a message, and how they are called. */
interface Devices {
  chipids: readonly string[];
  /** Whether the payload is an array of their results. */
  isMany: boolean;
  atOnce: number;
}

/** @throws DeviceCloudError `INVALID_INPUT` */
export const devicesOfCall = ({ client, config }: AnyCall, device: unknown): Devices => ({
  chipids: chipidsOf(client, config, device),
  isMany: isForMany(config),
  atOnce: Number((config as Partial<ManyConfig>).atOnce),
});

/**
 * Does something about each device of a message.
 * @param one its fields are those of the message or, of several devices, of the device's result
 * @param remove properties that an earlier node may have left on a message about one device
 */
export function aboutEach<O extends CallOptions>(
  call: AnyCall,
  { chipids, isMany, atOnce }: Devices,
  options: O,
  one: (chipid: string, options: O) => Promise<CallFields>,
  remove: (chipid: string) => readonly string[],
): Promise<Outcome> {
  const { client, msg } = call;
  if (!isMany)
    return about(call, chipids[0] as string, async (chipid) => {
      const set = await one(chipid, options);
      // Not in a copy, which would have a hidden class of its own in V8 of Node.js 20.
      set['chipid'] = chipid;
      return { set: addName(set, client, chipid, msg), remove: remove(chipid) };
    });
  const result = async (chipid: string, shared: O): Promise<Result> => {
    // The call has succeeded: whether an earlier part of it did does not matter any more.
    const { uncertain: _, ...fields } = await one(chipid, shared);
    return { chipid, ok: true, ...fields };
  };
  const settled = client.callEach(chipids, result, { ...options, atOnce });
  return settled.then((results) => outcomeOf(chipids, results));
}

/** Of an answer, what the result of one of several devices has. */
function resultFields({ payload, statusCode, warning }: CallFields): CallFields {
  const fields = statusCode === undefined ? { payload } : { payload, statusCode };
  return warning === undefined ? fields : { ...fields, warning };
}

/** Makes the call of a plan to each device. @param kept whose commands of earlier times are not sent again */
function callDevices(
  call: AnyCall,
  plan: Plan,
  devices: Devices,
  kept: SavedCall | undefined,
): Promise<Outcome> {
  const { client } = call;
  const { chipids, isMany } = devices;
  const [first = ''] = chipids;
  const before = kept && !isMany ? errorOfEnd(endBefore(call, plan, kept, first)) : undefined;
  if (before?.uncertain)
    return Promise.resolve(failedAbout(call, first, before, { uncertain: true }));
  /** Makes one of the calls, unless it has ended before. Of several, what comes of it is kept until the message ends. */
  const one = async (chipid: string, options: CallOptions): Promise<CallFields> => {
    try {
      const end = endBefore(call, plan, kept, chipid);
      const answer = end
        ? (valueOfResult(end) as Answer<never>)
        : await makeCall(call, plan, [chipid], options);
      if (isMany) void kept?.end(chipid, { value: answer });
      const fields = (plan.fields ?? answerFields)(answer, chipid, client);
      return isMany ? resultFields(fields) : fields;
    } catch (error) {
      if (isMany && !kept?.isDetached) void kept?.end(chipid, { error: plainError(error) });
      throw error;
    }
  };
  const remove = MAY_WARN.has(plan.call) ? ['warning'] : [];
  return aboutEach(call, devices, optionsOf(call, plan, kept), one, () => remove);
}
