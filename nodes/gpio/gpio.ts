import type { NodeAPI } from 'node-red';
import { DeviceCloudError, type Level, type Pin } from '../../src/index';
import { parseCodes, parsePin, readLevels } from '../../src/input';
import { registerAction, type ActionCall, type Outcome } from '../common/action';
import { callDevice } from '../common/device-call';
import { CHIPID_INPUT, type InputTable } from '../common/inputs';
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
function setPin(call: GpioCall): Promise<Outcome> {
  const [pin, level] = [call.inputs.pin as Pin, call.inputs.level as Level];
  return callDevice(call, (chipid, options) =>
    call.client.setGpioEdge(chipid, pin, level, options),
  );
}

/** Endpoint 9: one character for each pin. */
async function readPins(call: GpioCall): Promise<Outcome> {
  const { config, inputs } = call;
  const pin = readsAll(config) ? undefined : parsePin(inputs.pin);
  const codes = parseCodes(config.codes || USUAL_CODES);
  return callDevice(
    call,
    (chipid, options) => call.client.gpioStatus(chipid, options),
    ({ body, statusCode }, chipid) => {
      const levels = readLevels(body.result, codes);
      if (pin !== undefined && pin >= levels.length) {
        throw new DeviceCloudError(
          'INVALID_RESPONSE',
          `Device ${chipid} told the levels of ${levels.length} pins, and pin ${pin} is not among them.`,
          statusCode,
        );
      }
      return { payload: pin === undefined ? levels : levels[pin], result: body.result };
    },
  );
}

/** Sets or reads the pin levels of a device. */
export = function (RED: NodeAPI): void {
  registerAction<GpioConfig, GpioInput>(RED, GPIO_TYPE, {
    api: 'open',
    inputs: gpioInputs,
    perform: (call) => (call.config.operation === 'read' ? readPins(call) : setPin(call)),
  });
};
