import { DeviceCloudError, type Level, type Pin, type ResultAnswer } from '../../src/index';
import { parseCodes, parseDuration, parseLevel, parsePin, readLevels } from '../../src/input';
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

/** Endpoint 9: one character for each pin. */
async function readPins(call: GpioCall): Promise<Outcome> {
  const { config, inputs } = call;
  const pin = readsAll(config) ? undefined : parsePin(inputs.pin);
  const codes = parseCodes(config.codes || USUAL_CODES);
  const fields: FieldsOf<ResultAnswer> = ({ body, statusCode }, chipid) => {
    const levels = readLevels(body.result, codes);
    if (pin !== undefined && pin >= levels.length) {
      throw new DeviceCloudError(
        'INVALID_RESPONSE',
        `Device ${chipid} reported the levels of ${levels.length} pins, and pin ${pin} is not among them.`,
        statusCode,
      );
    }
    return { payload: pin === undefined ? levels : levels[pin], result: body.result, statusCode };
  };
  return callDevice(
    call,
    (chipid, options) => call.client.gpioStatus(chipid, options),
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
