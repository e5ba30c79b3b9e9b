import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeMessage, NodeStatus } from 'node-red';
import type { DeviceCloudClient, Kept, KeptPin, PinKeeper } from '../../src/for-nodes';
import { parseChipid, parseCodes, parseLevel } from '../../src/input';
import type { ActionCall, Background, Outcome } from '../common/action';
import { addName, chipidsOf, deviceIn, isForMany } from '../common/device-call';
import { resolvePin } from '../common/device-types';
import { closed, messageOf } from '../common/errors';
import { failureStatus, STATUS } from '../common/status';
import { DEFAULTS, type GpioConfig } from './gpio.config';

/** Milliseconds until a node that could not start tries again. */
const RETRY = 10_000;

/** A status is shorter than this. */
const LONGEST_STATUS = 20;

type Call = ActionCall<GpioConfig, string>;

const fieldsOf = (
  { chipid, pin, wanted, found, state }: KeptPin,
  client: DeviceCloudClient,
  msg: NodeMessage,
) => addName({ payload: { pin, wanted, found, state }, chipid }, client, chipid, msg);

/** Of a pin that a node has kept while it was set to another device or pin, nothing else would end it. */
function isMeant({ chipid, chipidType, pin, pinType }: GpioConfig, kept: KeptPin): boolean {
  const isNumber = (type: string, text: string): boolean =>
    (type === 'num' || type === 'str') && /^\d{1,20}$/.test(text);
  return (
    (!isNumber(chipidType, chipid) || parseChipid(chipid) === kept.chipid) &&
    (!isNumber(pinType, pin) || Number(pin) === kept.pin)
  );
}

/** The pins that a gpio node keeps, from its start to its end. */
export class KeptByNode {
  readonly #context: Background<GpioConfig>;
  readonly #keeper: PinKeeper;
  readonly #closing = new AbortController();
  readonly #started: Promise<void>;
  #client: DeviceCloudClient | undefined;

  constructor(context: Background<GpioConfig>) {
    this.#context = context;
    const { config, node } = context;
    const emit = (pin: KeptPin): void => {
      this.#showStatus();
      if (this.#client) node.send(Object.assign({}, fieldsOf(pin, this.#client, {})));
    };
    this.#keeper = {
      id: node.id,
      check: 1000 * Number(config.check),
      timeout: 1000 * Number(config.timeout),
      codes: Object.fromEntries(parseCodes(config.codes || DEFAULTS.codes)),
      onState: emit,
      onError: (pin, error) => {
        this.#showStatus();
        if (this.#client) node.error(error, fieldsOf(pin, this.#client, {}));
      },
    };
    this.#started = this.#start();
  }

  /** Takes a wish: each of several devices has a message of its own. */
  async wish(call: Call): Promise<Outcome> {
    const { client, config, inputs, msg, RED, types } = call;
    await this.#started;
    if (this.#closing.signal.aborted) throw closed(deviceIn(config, inputs['chipid']));
    this.#client = client;
    const wishOf = (chipid: string): [chipid: string, pin: number, level: 0 | 1 | null] => {
      const { pin, isLow } = resolvePin(types.of(client, chipid), inputs['pin']);
      if (inputs['level'] === null) return [chipid, pin, null];
      const level = parseLevel(inputs['level']);
      return [chipid, pin, isLow ? (level === 0 ? 1 : 0) : level];
    };
    // All are read before anything is sent.
    const wishes = this.#devicesOf(call, (kept) => wishOf(kept.chipid)[1] === kept.pin).map(wishOf);
    const pins = await Promise.all(wishes.map((wish) => client.keepPin(...wish, this.#keeper)));
    this.#showStatus();
    const [first] = pins;
    if (first && !isForMany(config, undefined)) return { set: fieldsOf(first, client, msg) };
    const messages = pins.map((each) => {
      const own = RED.util.cloneMessage(msg);
      return Object.assign(own, fieldsOf(each, client, own));
    });
    return { messages };
  }

  /** @param removed whether the node is gone: then nothing is wanted any more */
  close(removed: boolean): void {
    this.#closing.abort();
    const { node } = this.#context;
    const all = this.#client?.pins.listOf(node.id).length ?? 0;
    if (removed && all > 0)
      node.warn(
        `The node was removed: ${all === 1 ? 'its pin is' : `its ${all} pins are`} kept no more.`,
      );
    this.#client?.pins.release(node.id, removed);
  }

  /** The end of a group is meant for devices that have left it, too. */
  #devicesOf({ client, config, inputs }: Call, isLike: (pin: KeptPin) => boolean): string[] {
    const isEnd = config.chipidType === 'group' && inputs['level'] === null;
    const kept = isEnd ? client.pins.listOf(this.#context.node.id).filter(isLike) : [];
    try {
      const devices = chipidsOf(client, config, inputs['chipid']);
      return [...new Set([...devices, ...kept.map(({ chipid }) => chipid)])];
    } catch (error) {
      if (kept.length === 0) throw error;
      return kept.map(({ chipid }) => chipid);
    }
  }

  /** Goes on with what was kept. Never rejects. */
  async #start(): Promise<void> {
    const { app, config, node } = this.#context;
    const { signal } = this.#closing;
    const isOver = (): boolean => signal.aborted;
    while (!isOver()) {
      try {
        const client = await app.client('open');
        app.store().onProblem.add(this.#showStatus);
        signal.addEventListener('abort', () => app.store().onProblem.delete(this.#showStatus));
        const ended = await client.pins.restore(this.#keeper, (pin) => isMeant(config, pin));
        if (ended > 0)
          node.warn(
            `The node was set to another device or pin: ${ended === 1 ? 'the pin that it kept is' : `the ${ended} pins that it kept are`} kept no more.`,
          );
        this.#client = client;
        if (isOver()) client.pins.release(node.id);
        this.#showStatus();
        return;
      } catch (error) {
        // What is missing in the configuration the node shows already; it is started anew when that changes.
        if (app.problem('open')) return;
        node.warn(`Kept pins: ${messageOf(error)}`);
      }
      await sleep(RETRY, undefined, { signal }).catch(() => undefined);
    }
  }

  readonly #showStatus = (): void => {
    if (!this.#closing.signal.aborted) this.#context.showIdle(() => this.#status());
  };

  #status(): NodeStatus {
    const { app, node } = this.#context;
    const pins: Kept[] = this.#client?.pins.listOf(node.id) ?? [];
    const count = (of: KeptPin['state']): number => pins.filter(({ state }) => state === of).length;
    const all = pins.length;
    const [kept, pending, differs] = [count('kept'), count('pending'), count('differs')];
    const error = pins.find((pin) => pin.error && pin.state === 'pending')?.error;
    if (error) return failureStatus(error);
    if (app.store().problem && differs === 0) return STATUS.notKept;
    if (all === 0) return STATUS.none;
    const keys =
      differs > 0
        ? ['differs-of', 'differs']
        : pending > 0
          ? ['pending', 'pending-short', 'kept']
          : ['kept'];
    const texts = keys.map((key) =>
      this.#context.RED._(`status.pins-${key}`, { all, kept, pending, differs }),
    );
    const text = texts.find(({ length }) => length < LONGEST_STATUS) ?? `${kept}/${all}`;
    if (differs > 0) return { fill: 'red', shape: 'ring', text };
    return { fill: pending > 0 ? 'yellow' : 'green', shape: pending > 0 ? 'ring' : 'dot', text };
  }
}
