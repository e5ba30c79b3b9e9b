import type { Node } from 'node-red';
import {
  type DeviceCloudClient,
  DeviceCloudError,
  invalidInput,
  parseCodes,
  parseDuration,
  parseLevel,
  parsePin,
  type ResultAnswer,
} from '../../src/index';
import { defineAction, type ActionCall, type CallAnswer, type Plan } from '../common/action';
import { performPlan } from '../common/device-call';
import { isPinName, resolvePin } from '../common/device-types';
import { CHOICES, DEFAULTS, type GpioConfig } from './gpio.config';
import { forgetPins, KeptByNode } from './keep';

type GpioCall = ActionCall<GpioConfig, 'chipid' | 'pin' | 'level'>;

/** The most pins that an error names. */
const MOST_PINS = 50;

/** Seconds for which a close waits for pulses: the client's 3 for setting a pin back, and a little more. */
const PULSE_ENDS = 4;

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

function levelOf(levels: Levels, pin: number, device: string, statusCode?: number): unknown {
  if (levels.has(pin)) return levels.get(pin);
  const pins = [...levels.keys()].sort((a, b) => a - b).slice(0, MOST_PINS);
  const more = levels.size > MOST_PINS ? ', …' : '';
  const known = levels.size === 0 ? 'no pins' : `the pins ${pins.join(', ')}${more}`;
  throw new DeviceCloudError(
    'INVALID_RESPONSE',
    `The levels that ${device} reported are of ${known}: pin ${pin} is not among them. ` +
      "If the service lists the pins in another order, set it in the application's configuration.",
    statusCode,
  );
}

/** The first message of a flow often has no level. @throws DeviceCloudError `INVALID_INPUT` */
function requireLevel({ config, inputs }: GpioCall): void {
  if (config.levelType === 'msg' && inputs.level === undefined)
    throw invalidInput(
      `msg.${config.level} is missing: set it to the level, or choose a level in the node.`,
    );
}

/** Endpoint 10, once or, for a pulse, twice. */
function planOfSet({ config, inputs, types }: GpioCall, isPulse: boolean): Plan {
  const { chipid: device, pin, level } = inputs;
  const duration = Number(config.duration);
  if (config.many) {
    // Checked before a command waits for those before it.
    if (!isPinName(pin)) parsePin(pin);
    parseLevel(level);
    if (isPulse) parseDuration(duration);
  }
  const argsOf: Plan['argsOf'] = (chipid, client) => {
    const { pin: number, isLow } = resolvePin(types.of(client.fleet, chipid), pin);
    return [number, isLow ? 1 - parseLevel(level) : level];
  };
  const plan = { device, args: [pin, level], argsOf };
  return isPulse
    ? { ...plan, call: 'pulseGpio', options: { duration } }
    : { ...plan, call: 'setGpioEdge' };
}

/** Endpoint 9: one character for each pin. */
function planOfReading({ config, inputs, types }: GpioCall): Plan {
  const isAll = config.pin === '';
  if (!isAll && !isPinName(inputs.pin)) parsePin(inputs.pin);
  const codes = Object.fromEntries(parseCodes(config.codes || DEFAULTS.codes));
  const pinOf = (chipid: string, client: DeviceCloudClient) =>
    resolvePin(types.of(client.fleet, chipid), inputs.pin);
  return {
    call: 'gpioStatus',
    device: inputs.chipid,
    args: [],
    argsOf(chipid, client) {
      if (!isAll) pinOf(chipid, client);
      return [];
    },
    fields({ body: { result }, statusCode }: CallAnswer<ResultAnswer>, chipid, client) {
      const levels = client.pinLevels(result, codes);
      if (isAll) return { payload: toArray(levels), result, statusCode };
      const device = client.fleet.titleOf(chipid);
      const { pin, isLow } = pinOf(chipid, client);
      const level = levelOf(levels, pin, device, statusCode);
      const found = client.pinLevels(result).get(pin);
      const isInverted = isLow && (found === 0 || found === 1);
      const payload = isInverted ? (codes[1 - found] ?? 1 - found) : level;
      return { payload, result, statusCode };
    },
  };
}

/** The nodes that keep pins. */
const kept = new WeakMap<Node, KeptByNode>();

/** Sets, reads or keeps the pin levels of devices. */
export const action = defineAction<GpioConfig, keyof GpioCall['inputs']>({
  api: 'open',
  defaults: DEFAULTS,
  choices: CHOICES,
  inputs({ operation, pin }) {
    if (operation !== 'read') return ['chipid', 'pin', 'level'];
    return pin === '' ? ['chipid'] : ['chipid', 'pin'];
  },
  waits: ({ operation }) => operation !== 'read',
  closing: ({ operation }) => (operation === 'pulse' ? PULSE_ENDS : 0),
  start(background) {
    const { app, config, node } = background;
    if (config.operation !== 'keep') {
      // What it has kept before must not come back when it is set to keep again.
      void forgetPins(app.store(), node.id, config);
      return undefined;
    }
    const keeping = new KeptByNode(background);
    kept.set(node, keeping);
    return (removed) => keeping.close(removed);
  },
  perform(call) {
    const { operation } = call.config;
    if (operation === 'read') return performPlan(call, planOfReading(call));
    requireLevel(call);
    const keeping = kept.get(call.node);
    if (keeping) return keeping.wish(call);
    return performPlan(call, planOfSet(call, operation === 'pulse'));
  },
});
