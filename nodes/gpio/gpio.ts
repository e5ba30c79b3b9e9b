import type { NodeAPI } from 'node-red';
import { parseChipid } from '../../src/input/chipid';
import { DeviceCloudError } from '../../src/errors';
import { parseCodes, parseLevel, parsePin, readLevels } from '../../src/input/gpio';
import { registerAction, type ActionCall, type Outcome } from '../common/action';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
import { timeoutOf } from '../common/number';
import { GPIO_TYPE, type GpioConfig } from './gpio.config';

type GpioInput = 'chipid' | 'pin' | 'level';
type GpioCall = ActionCall<GpioConfig, GpioInput>;

const USUAL_CODES = '{"0":0,"1":1}';

const readsAll = (config: GpioConfig): boolean => config.pin === '';

function gpioInputs(config: GpioConfig): InputTable<GpioInput> {
  if (config.operation !== 'read') {
    return { ...CHIPID_INPUT, pin: ['pin', 'msg'], level: ['payload', 'msg'] };
  }
  return readsAll(config) ? CHIPID_INPUT : { ...CHIPID_INPUT, pin: ['pin', 'msg'] };
}

/** Endpoint 10. */
async function setPin({ client, config, inputs, signal }: GpioCall): Promise<Outcome> {
  const chipid = parseChipid(inputs.chipid);
  const [pin, level] = [parsePin(inputs.pin), parseLevel(inputs.level)];
  const answer = await client.setGpioEdge(chipid, pin, level, {
    timeout: timeoutOf(config),
    signal,
  });
  return { set: { payload: answer.body, chipid, statusCode: answer.statusCode } };
}

/** Endpoint 9: one character for each pin. */
async function readPins({ client, config, inputs, signal }: GpioCall): Promise<Outcome> {
  const chipid = parseChipid(inputs.chipid);
  const pin = readsAll(config) ? undefined : parsePin(inputs.pin);
  const codes = parseCodes(config.codes || USUAL_CODES);
  const { body, statusCode } = await client.gpioStatus(chipid, {
    timeout: timeoutOf(config),
    signal,
  });
  const levels = readLevels(body.result, codes);
  if (pin !== undefined && pin >= levels.length) {
    throw new DeviceCloudError(
      'INVALID_RESPONSE',
      `Device ${chipid} told the levels of ${levels.length} pins, and pin ${pin} is not among them.`,
      statusCode,
    );
  }
  const payload = pin === undefined ? levels : levels[pin];
  return { set: { payload, result: body.result, chipid, statusCode } };
}

/** Sets or reads the pin levels of a device. */
export = function (RED: NodeAPI): void {
  registerAction<GpioConfig, GpioInput>(RED, GPIO_TYPE, {
    api: 'open',
    inputs: gpioInputs,
    perform: (call) => (call.config.operation === 'read' ? readPins(call) : setPin(call)),
  });
};
