import { DeviceCloudError, type Level, type Pin, type ResultAnswer } from '../../src/index';
import { parseCodes, parseDuration, parseLevel, parsePin } from '../../src/input';
import type { ActionCall, Outcome } from '../common/action';
import { actionRuntime } from '../common/action-runtime';
import { choiceOf } from '../common/choice';
import { callDevice, waitOf } from '../common/device-call';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
import type { FieldsOf } from '../common/many';
import { numberOf } from '../common/values';
import { DURATION, type GpioConfig } from './gpio.config';

type GpioInput = 'chipid' | 'pin' | 'level';
type GpioCall = ActionCall<GpioConfig, GpioInput>;

const USUAL_CODES = '{"0":0,"1":1}';

/** The most ranges of pins that an error names. */
const MAX_RANGES = 50;

/** Seconds for which a close waits for pulses: the client's 3 for setting a pin back, and a little more. */
const PULSE_ENDS = 4;

const readsAll = (config: GpioConfig): boolean => config.pin === '';

function gpioInputs(config: GpioConfig): InputTable<GpioInput> {
  if (config.operation !== 'read') {
    return { ...CHIPID_INPUT, pin: ['pin', 'msg'], level: ['payload', 'msg'] };
  }
  return readsAll(config) ? CHIPID_INPUT : { ...CHIPID_INPUT, pin: ['pin', 'msg'] };
}

/** Endpoint 10, once or, for a pulse, twice. */
async function setPin(call: GpioCall, operation: 'set' | 'pulse'): Promise<Outcome> {
  const { client, config, inputs } = call;
  const [pin, level] = [inputs.pin as Pin, inputs.level as Level];
  const duration = numberOf(config.duration, DURATION);
  if (config.many === true) {
    // Checked before a command waits for those before it.
    parsePin(pin);
    parseLevel(level);
    if (operation === 'pulse') parseDuration(duration);
  }
  return callDevice(
    call,
    (chipid, options) =>
      operation === 'pulse'
        ? client.pulseGpio(chipid, pin, level, { ...options, duration })
        : client.setGpioEdge(chipid, pin, level, options),
    waitOf(config),
  );
}

type Levels = ReadonlyMap<number, unknown>;

/** Index = pin, null where the answer has none. */
function toArray(levels: Levels): unknown[] {
  const array: unknown[] = [];
  for (const [pin, level] of levels) {
    while (array.length < pin) array.push(null);
    array[pin] = level;
  }
  return array;
}

/** Numbers with ranges: `0-5, 9, 10, 12-15`. */
function listPins(levels: Levels): string {
  const ranges: [first: number, last: number][] = [];
  for (const pin of [...levels.keys()].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range && range[1] === pin - 1) range[1] = pin;
    else ranges.push([pin, pin]);
  }
  const text = ranges.slice(0, MAX_RANGES).map(([first, last]) => {
    if (first === last) return `${first}`;
    return last === first + 1 ? `${first}, ${last}` : `${first}-${last}`;
  });
  return text.join(', ') + (ranges.length > MAX_RANGES ? ', …' : '');
}

function levelOf(levels: Levels, pin: number, chipid: string, statusCode?: number): unknown {
  if (levels.has(pin)) return levels.get(pin);
  const known = levels.size === 0 ? 'no pins' : `the pins ${listPins(levels)}`;
  throw new DeviceCloudError(
    'INVALID_RESPONSE',
    `Device ${chipid} reported the levels of ${known}: pin ${pin} is not among them. ` +
      "If the service lists the pins in another order, set it in the application's configuration.",
    statusCode,
  );
}

/** Endpoint 9: one character for each pin. */
async function readPins(call: GpioCall): Promise<Outcome> {
  const { client, config, inputs } = call;
  const pin = readsAll(config) ? undefined : parsePin(inputs.pin);
  const codes = Object.fromEntries(parseCodes(config.codes || USUAL_CODES));
  const fields: FieldsOf<ResultAnswer> = ({ body: { result }, statusCode }, chipid) => {
    const levels = client.pinLevels(result, codes);
    const payload = pin === undefined ? toArray(levels) : levelOf(levels, pin, chipid, statusCode);
    return { payload, result, statusCode };
  };
  return callDevice(
    call,
    (chipid, options) => client.gpioStatus(chipid, options),
    undefined,
    fields,
  );
}

/** Sets or reads the pin levels of devices. */
export const runtime = actionRuntime<GpioConfig, GpioInput>({
  api: 'open',
  inputs: gpioInputs,
  closing: ({ operation }) => (operation === 'pulse' ? PULSE_ENDS : 0),
  async perform(call) {
    const operation = choiceOf(call.config.operation, 'operation', ['set', 'read', 'pulse']);
    return operation === 'read' ? readPins(call) : setPin(call, operation);
  },
});
