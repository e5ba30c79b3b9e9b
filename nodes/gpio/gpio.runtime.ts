import type { Node, NodeAPI, NodeMessage, NodeStatus } from 'node-red';
import {
  type DeviceCloudClient,
  DeviceCloudError,
  type Keeping,
  type KeptPin,
  oneLine,
  parseChipid,
  parseCodes,
  parseDuration,
  parseLevel,
  parsePin,
  type PinKeeper,
  type ResultAnswer,
} from '../../src/index';
import {
  defineAction,
  type ActionCall,
  type Background,
  type CallAnswer,
  type Outcome,
  type Plan,
} from '../common/action';
import { performPlan } from '../common/device-call';
import { isPinName, resolvePin } from '../common/device-types';
import { closed, messageOf } from '../common/errors';
import { addName, checkGiven, chipidsOf, deviceIn, isForMany } from '../common/inputs';
import { numberOf } from '../common/settings';
import { isObject, SECONDS } from '../common/shared.config';
import { failureStatus, STATUS } from '../common/status';
import { CHOICES, DEFAULTS, LIMITS, type GpioConfig } from './gpio.config';

type GpioCall = ActionCall<GpioConfig, 'chipid' | 'pin' | 'level'>;

/** Characters of the pins that an error names. */
const LONGEST_PINS = 200;

/** Seconds for which a close waits for pulses: the client's 3 for setting a pin back, and a little more. */
const PULSE_ENDS = 4;

/** Milliseconds until a node that keeps pins and could not start tries again. */
const RETRY = 10_000;

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
  const pins = [...levels.keys()].sort((a, b) => a - b).join(', ');
  const known = pins === '' ? 'no pins' : `the pins ${oneLine(pins, LONGEST_PINS)}`;
  throw new DeviceCloudError(
    'INVALID_RESPONSE',
    `The levels that ${device} reported are of ${known}: pin ${pin} is not among them. ` +
      "If the service lists the pins in another order, set it in the application's configuration.",
    statusCode,
  );
}

/** A call's pin on a device, which may be given by its name there. @throws DeviceCloudError `INVALID_INPUT` */
const pinOn = ({ client, inputs, types }: GpioCall, chipid: string) =>
  resolvePin(types.of(client.fleet, chipid), inputs.pin);

/** The same with the level that it is to have: one that is active low has the opposite. */
function edgeOn(call: GpioCall, chipid: string): [pin: number, level: 0 | 1] {
  const { pin, isLow } = pinOn(call, chipid);
  const level = parseLevel(call.inputs.level);
  return [pin, isLow === (level === 1) ? 0 : 1];
}

/** Endpoint 10, once or, for a pulse, twice. */
function planOfSet(call: GpioCall): Plan {
  const { config, inputs } = call;
  const { chipid: device, pin, level } = inputs;
  const duration = Number(config.duration);
  const isPulse = config.operation === 'pulse';
  if (config.many) {
    // Checked before a command waits for those before it.
    if (!isPinName(pin)) parsePin(pin);
    parseLevel(level);
    if (isPulse) parseDuration(duration);
  }
  const argsOf = (chipid: string) => edgeOn(call, chipid);
  const plan: Plan = { call: 'setGpioEdge', device, args: [pin, level], argsOf };
  return isPulse ? { ...plan, call: 'pulseGpio', options: { duration } } : plan;
}

/** Endpoint 9: one character for each pin. */
function planOfReading(call: GpioCall): Plan {
  const { config, inputs } = call;
  const isAll = config.pin === '';
  if (!isAll && !isPinName(inputs.pin)) parsePin(inputs.pin);
  const codes = Object.fromEntries(parseCodes(config.codes || DEFAULTS.codes));
  return {
    call: 'gpioStatus',
    device: inputs.chipid,
    args: [],
    argsOf(chipid) {
      if (!isAll) pinOn(call, chipid);
      return [];
    },
    fields({ body: { result }, statusCode }: CallAnswer<ResultAnswer>, chipid, client) {
      const levels = client.pinLevels(result, codes);
      if (isAll) return { payload: toArray(levels), result, statusCode };
      const { pin, isLow } = pinOn(call, chipid);
      const level = levelOf(levels, pin, client.fleet.titleOf(chipid), statusCode);
      const found = client.pinLevels(result).get(pin);
      const isInverted = isLow && (found === 0 || found === 1);
      const payload = isInverted ? (codes[1 - found] ?? 1 - found) : level;
      return { payload, result, statusCode };
    },
  };
}

const keptFields = ({ chipid, ...pin }: KeptPin, client: DeviceCloudClient, msg: NodeMessage) =>
  addName({ payload: pin, chipid }, client, chipid, msg);

/** Ends the pins that a node has kept while it was set otherwise: nothing else would end them. */
async function forgetPins(store: Keeping, node: Node, config: GpioConfig): Promise<void> {
  await store.loaded;
  const { operation, chipid, chipidType, pin, pinType } = config;
  const isNumber = (type: string, text: string): boolean =>
    (type === 'num' || type === 'str') && /^\d{1,20}$/.test(text);
  for (const [key, value] of store.list('pin:')) {
    const [, device, number] = key.split(':');
    const isMeant =
      operation === 'keep' &&
      (!isNumber(chipidType, chipid) || parseChipid(chipid) === device) &&
      (!isNumber(pinType, pin) || Number(pin) === Number(number));
    if (isObject(value) && value['node'] === node.id && !isMeant) store.update(key, undefined);
  }
}

type Kept = ReturnType<DeviceCloudClient['pins']['listOf']>;

/** What a node shows of the pins that it keeps. @param isSafe whether they would survive a restart */
function statusOf(RED: NodeAPI, pins: Kept, isSafe: boolean): NodeStatus {
  const error = pins.find((pin) => pin.error && pin.state === 'pending')?.error;
  if (error) return failureStatus(error);
  const count = (of: KeptPin['state']): number => pins.filter(({ state }) => state === of).length;
  const [kept, differs, all] = [count('kept'), count('differs'), pins.length];
  if (differs > 0)
    return { fill: 'red', shape: 'ring', text: RED._('status.pins-differs', { differs }) };
  if (!isSafe) return STATUS.notKept;
  if (all === 0) return STATUS.none;
  const text = RED._('status.pins-kept', { kept, all });
  return kept < all
    ? { fill: 'yellow', shape: 'ring', text }
    : { fill: 'green', shape: 'dot', text };
}

/** The end of a group is meant for devices that have left it, too. */
function devicesOfWish({ client, config, inputs, node }: GpioCall): readonly string[] {
  const isEndOfGroup = config.chipidType === 'group' && inputs.level === null;
  const kept = new Set(isEndOfGroup ? client.pins.listOf(node.id).map(({ chipid }) => chipid) : []);
  return kept.size > 0 ? [...kept] : chipidsOf(client, config, inputs.chipid);
}

/** What a message wants of a device. A level of null ends it. */
function wishFor(call: GpioCall, chipid: string): [string, pin: number, level: 0 | 1 | null] {
  if (call.inputs.level === null) return [chipid, pinOn(call, chipid).pin, null];
  return [chipid, ...edgeOn(call, chipid)];
}

/** Keeps pins for a node, from its start to its end. */
function keepPins({ app, config, node, RED, showIdle }: Background<GpioConfig>) {
  let client: DeviceCloudClient | undefined;
  let retry: NodeJS.Timeout | undefined;
  let isClosed = false;
  const store = app.store();

  const show = (): void => {
    if (isClosed) return;
    showIdle(() => statusOf(RED, client?.pins.listOf(node.id) ?? [], !store.problem));
  };
  const keeper: PinKeeper = {
    id: node.id,
    check: 1000 * numberOf(config, 'check', LIMITS.check),
    timeout: 1000 * numberOf(config, 'timeout', SECONDS),
    codes: Object.fromEntries(parseCodes(config.codes || DEFAULTS.codes)),
    onState(pin) {
      show();
      if (client) node.send(Object.assign({}, keptFields(pin, client, {})));
    },
    onError(pin, error) {
      show();
      if (client) node.error(error, keptFields(pin, client, {}));
    },
  };

  /** Goes on with what was kept. Never rejects. */
  async function start(): Promise<void> {
    try {
      client = await app.client('open');
      await forgetPins(store, node, config);
      await client.pins.restore(keeper);
      // It may have been closed meanwhile.
      if (isClosed) client.pins.release(node.id);
      show();
    } catch (error) {
      // What is missing in the configuration the node shows already; it is started anew when that changes.
      if (isClosed || app.problem('open')) return;
      node.warn(`Kept pins: ${messageOf(error)}`);
      retry = setTimeout(() => void start(), RETRY);
    }
  }
  store.onProblem.add(show);
  void start();

  return {
    /** Takes a wish: each of several devices has a message of its own. */
    async wish(call: GpioCall): Promise<Outcome> {
      if (isClosed) throw closed(deviceIn(config, call.inputs.chipid));
      const lent = (client = call.client);
      // All are read before anything is sent.
      const wishes = devicesOfWish(call).map((chipid) => wishFor(call, chipid));
      const pins = await Promise.all(wishes.map((wish) => lent.keepPin(...wish, keeper)));
      show();
      const [first] = pins;
      if (first && !isForMany(config)) return { set: keptFields(first, lent, call.msg) };
      // What is replaced is not copied for each.
      const { payload: _, ...passed } = call.msg;
      const messages = pins.map((each) => {
        const own = RED.util.cloneMessage(passed);
        return Object.assign(own, keptFields(each, lent, own));
      });
      return { messages };
    },
    /** @param isRemoved whether the node is gone: then nothing is wanted any more */
    close(isRemoved: boolean): void {
      isClosed = true;
      clearTimeout(retry);
      store.onProblem.delete(show);
      client?.pins.release(node.id, isRemoved);
    },
  };
}

/** The nodes that keep pins. */
const keepers = new WeakMap<Node, ReturnType<typeof keepPins>>();

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
      void forgetPins(app.store(), node, config);
      return undefined;
    }
    const keeper = keepPins(background);
    keepers.set(node, keeper);
    return (removed) => keeper.close(removed);
  },
  perform(call) {
    const { config, inputs } = call;
    const remedy = "set it to the pin's number or name, or enter a pin in the node";
    checkGiven(config, 'pin', inputs.pin, remedy);
    if (config.operation === 'read') return performPlan(call, planOfReading(call));
    const remedyOfLevel = 'set it to the level, or choose a level in the node';
    checkGiven(config, 'level', inputs.level, remedyOfLevel);
    return keepers.get(call.node)?.wish(call) ?? performPlan(call, planOfSet(call));
  },
});
