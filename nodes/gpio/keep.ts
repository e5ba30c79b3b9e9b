import type { NodeMessage, NodeStatus } from 'node-red';
import {
  type DeviceCloudClient,
  type Keeping,
  type KeptPin,
  parseChipid,
  parseCodes,
  parseLevel,
  type PinKeeper,
} from '../../src/index';
import type { ActionCall, Background, Outcome } from '../common/action';
import { addName, chipidsOf, deviceIn, isForMany } from '../common/inputs';
import { resolvePin } from '../common/device-types';
import { closed, messageOf } from '../common/errors';
import { numberOf } from '../common/settings';
import { isObject, MAX_SECONDS } from '../common/shared.config';
import { failureStatus, STATUS } from '../common/status';
import { DEFAULTS, type GpioConfig } from './gpio.config';

/** Milliseconds until a node that could not start tries again. */
const RETRY = 10_000;

/** Of a time-out. */
const SECONDS = { min: 0.001, max: MAX_SECONDS, status: 'status.invalid-input' };

const fieldsOf = (
  { chipid, pin, wanted, found, state }: KeptPin,
  client: DeviceCloudClient,
  msg: NodeMessage,
) => addName({ payload: { pin, wanted, found, state }, chipid }, client, chipid, msg);

/** Ends the pins that a node has kept while it was set otherwise: nothing else would end them. */
export async function forgetPins(store: Keeping, id: string, config: GpioConfig): Promise<void> {
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
    if (isObject(value) && value['node'] === id && !isMeant) store.update(key, undefined);
  }
}

/** The pins that a gpio node keeps, from its start to its end. */
export class KeptByNode {
  readonly #context: Background<GpioConfig>;
  readonly #keeper: PinKeeper;
  #client: DeviceCloudClient | undefined;
  #retry: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(context: Background<GpioConfig>) {
    this.#context = context;
    const { app, config, node } = context;
    this.#keeper = {
      id: node.id,
      check: 1000 * numberOf(config, 'check', { ...SECONDS, min: 0 }),
      timeout: 1000 * numberOf(config, 'timeout', SECONDS),
      codes: Object.fromEntries(parseCodes(config.codes || DEFAULTS.codes)),
      onState: (pin) => {
        this.#showStatus();
        if (this.#client) node.send(Object.assign({}, fieldsOf(pin, this.#client, {})));
      },
      onError: (pin, error) => {
        this.#showStatus();
        if (this.#client) node.error(error, fieldsOf(pin, this.#client, {}));
      },
    };
    app.store().onProblem.add(this.#showStatus);
    void this.#start();
  }

  /** Takes a wish: each of several devices has a message of its own. */
  async wish(call: ActionCall<GpioConfig, string>): Promise<Outcome> {
    const { client, config, inputs, msg, RED, types } = call;
    if (this.#isClosed) throw closed(deviceIn(config, inputs['chipid']));
    this.#client = client;
    const wishOf = (chipid: string): [chipid: string, pin: number, level: 0 | 1 | null] => {
      const { pin, isLow } = resolvePin(types.of(client.fleet, chipid), inputs['pin']);
      if (inputs['level'] === null) return [chipid, pin, null];
      const level = parseLevel(inputs['level']);
      return [chipid, pin, isLow ? (level === 0 ? 1 : 0) : level];
    };
    // The end of a group is meant for devices that have left it, too.
    const isEndOfGroup = config.chipidType === 'group' && inputs['level'] === null;
    const kept = new Set(
      isEndOfGroup ? client.pins.listOf(call.node.id).map(({ chipid }) => chipid) : [],
    );
    const chipids = kept.size > 0 ? kept : chipidsOf(client, config, inputs['chipid']);
    // All are read before anything is sent.
    const wishes = [...chipids].map(wishOf);
    const pins = await Promise.all(wishes.map((wish) => client.keepPin(...wish, this.#keeper)));
    this.#showStatus();
    const [first] = pins;
    if (first && !isForMany(config)) return { set: fieldsOf(first, client, msg) };
    // What is replaced is not copied for each.
    const { payload: _, ...passed } = msg;
    const messages = pins.map((each) => {
      const own = RED.util.cloneMessage(passed);
      return Object.assign(own, fieldsOf(each, client, own));
    });
    return { messages };
  }

  /** @param isRemoved whether the node is gone: then nothing is wanted any more */
  close(isRemoved: boolean): void {
    this.#isClosed = true;
    clearTimeout(this.#retry);
    const { app, node } = this.#context;
    app.store().onProblem.delete(this.#showStatus);
    this.#client?.pins.release(node.id, isRemoved);
  }

  /** Goes on with what was kept. Never rejects. */
  async #start(): Promise<void> {
    const { app, config, node } = this.#context;
    try {
      this.#client = await app.client('open');
      await forgetPins(app.store(), node.id, config);
      await this.#client.pins.restore(this.#keeper);
      // It may have been closed meanwhile.
      if (this.#isClosed) this.#client.pins.release(node.id);
      this.#showStatus();
    } catch (error) {
      // What is missing in the configuration the node shows already; it is started anew when that changes.
      if (this.#isClosed || app.problem('open')) return;
      node.warn(`Kept pins: ${messageOf(error)}`);
      this.#retry = setTimeout(() => void this.#start(), RETRY);
    }
  }

  readonly #showStatus = (): void => {
    if (!this.#isClosed) this.#context.showIdle(() => this.#status());
  };

  #status(): NodeStatus {
    const { app, node } = this.#context;
    const pins = this.#client?.pins.listOf(node.id) ?? [];
    const count = (of: KeptPin['state']): number => pins.filter(({ state }) => state === of).length;
    const kept = count('kept');
    const differs = count('differs');
    const error = pins.find((pin) => pin.error && pin.state === 'pending')?.error;
    if (error) return failureStatus(error);
    const all = pins.length;
    if (differs > 0)
      return {
        fill: 'red',
        shape: 'ring',
        text: this.#context.RED._('status.pins-differs', { differs }),
      };
    if (app.store().problem) return STATUS.notKept;
    if (all === 0) return STATUS.none;
    const text = this.#context.RED._('status.pins-kept', { kept, all });
    return kept < all
      ? { fill: 'yellow', shape: 'ring', text }
      : { fill: 'green', shape: 'dot', text };
  }
}
