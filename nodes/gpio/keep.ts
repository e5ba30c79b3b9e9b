import { setTimeout as sleep } from 'node:timers/promises';
import type { NodeMessage, NodeStatus } from 'node-red';
import type {
  DeviceCloudClient,
  DeviceCloudError,
  KeptPin,
  PinKeeper,
  SavedPin,
} from '../../src/for-nodes';
import { parseChipid, parseCodes, parseLevel } from '../../src/input';
import type { ActionCall, Background, Outcome } from '../common/action';
import { addName, chipidsOf, deviceIn, isForMany } from '../common/device-call';
import { resolvePin, type DeviceType } from '../common/device-types';
import { closed, messageOf } from '../common/errors';
import type { Kept } from '../common/kept';
import { isObject } from '../common/shared.config';
import { failureStatus, STATUS } from '../common/status';
import { DEFAULTS, type GpioConfig } from './gpio.config';

/** The name of what a node keeps over a restart. */
export const KEPT = 'pins';

/** Milliseconds until a node that could not start tries again. */
const RETRY = 10_000;

/** A status is shorter than this. */
const LONGEST_STATUS = 20;

type Context = Background<GpioConfig>;

/** A level that is wished of a pin, as it is saved; null ends it. */
interface Wish {
  readonly chipid: string;
  readonly pin: number;
  readonly level: 0 | 1 | null;
  readonly since: number;
}

const placeOf = ({ chipid, pin }: Pick<KeptPin, 'chipid' | 'pin'>): string => `${chipid}/${pin}`;

/**
 * The devices of a group, and those that have left it.
 * @param read returns the devices of the group. It throws if the group is empty, which counts only if nobody has left it
 */
function withOthers(others: readonly string[], read: () => string[]): string[] {
  if (others.length === 0) return read();
  try {
    return [...new Set([...read(), ...others])];
  } catch {
    return [...others];
  }
}

/** What is kept once wishes are fulfilled. */
function withWishes(saved: SavedPin[], wishes: ReadonlyMap<string, Wish>): SavedPin[] {
  if (wishes.size === 0) return saved;
  const others = saved.filter((pin) => !wishes.has(placeOf(pin)));
  const wished = [...wishes.values()].flatMap(({ level, ...wish }): SavedPin[] =>
    level === null
      ? []
      : [{ ...wish, wanted: level, found: null, state: 'pending', setAt: null, lookedAt: null }],
  );
  return [...others, ...wished];
}

/** What a message wishes of a device: the number of the pin, and its level as it is. @throws DeviceCloudError `INVALID_INPUT` */
function readWish(
  inputs: { pin?: unknown; level?: unknown },
  type: DeviceType | undefined,
): { pin: number; level: 0 | 1 | null } {
  const { pin, isLow } = resolvePin(type, inputs.pin);
  if (inputs.level === null) return { pin, level: null };
  const level = parseLevel(inputs.level);
  return { pin, level: isLow ? (level === 0 ? 1 : 0) : level };
}

function fieldsOf({ chipid, ...payload }: KeptPin, client: DeviceCloudClient, msg: NodeMessage) {
  return addName({ payload, chipid }, client, chipid, msg);
}

/** The pins that a gpio node keeps, from its start to its end: over a restart, too. */
export class KeptByNode {
  readonly #keeper: PinKeeper;
  readonly #closing = new AbortController();
  /** Resolves once what was kept is there, or cannot be read for now: a deploy would forget a wish that came before. */
  readonly #reading: Promise<void>;
  #endReading!: () => void;
  #client: DeviceCloudClient | undefined;
  #kept: Kept | undefined;
  /** What is being written: before, no device is called for it, and no message says that it is kept. */
  readonly #wishes = new Map<string, Wish>();
  /** The pins that could not be set or read, with the reason. */
  readonly #errors = new Map<string, DeviceCloudError>();
  /** What to save, once the node has closed. */
  #last: object | undefined;
  readonly #context: Context;

  constructor(context: Context) {
    this.#context = context;
    const { config, node } = context;
    this.#keeper = {
      check: 1000 * Number(config.check),
      timeout: 1000 * Number(config.timeout),
      codes: Object.fromEntries(parseCodes(config.codes || DEFAULTS.codes)),
      onState: (pin) => {
        if (pin.state !== 'pending') this.#errors.delete(placeOf(pin));
        if (this.#client) node.send(Object.assign({}, fieldsOf(pin, this.#client, {})));
      },
      onChange: () => this.#changed(),
      onError: (pin, error) => {
        this.#errors.set(placeOf(pin), error);
        if (this.#client) node.error(error, fieldsOf(pin, this.#client, {}));
        this.#changed();
      },
    };
    this.#reading = new Promise((resolve) => (this.#endReading = resolve));
    void this.#start().finally(this.#endReading);
  }

  /** Takes a wish: each of several devices has a message of its own. */
  async wish(call: ActionCall<GpioConfig, string>): Promise<Outcome> {
    const { client, config, inputs, msg, RED, types } = call;
    await this.#reading;
    this.#throwIfClosed(config, inputs);
    // It may be missing, if what was kept cannot be read.
    this.#client = client;
    const since = Date.now();
    const wishOf = (chipid: string): Wish => ({
      ...{ chipid, ...readWish(inputs, types.of(client, chipid)), since },
    });
    const isEnd = config.chipidType === 'group' && inputs['level'] === null;
    const others = isEnd ? this.#keptLike(client, wishOf) : [];
    const read = (): string[] => chipidsOf(client, config, inputs['chipid']);
    // All are read before anything is sent.
    const wishes = withOthers(others, read).map(wishOf);
    await this.#write(client, wishes);
    this.#throwIfClosed(config, inputs);
    const pins = this.#keep(client, wishes);
    const [first] = pins;
    if (first && !isForMany(config, undefined)) return { set: fieldsOf(first, client, msg) };
    const messages = pins.map((each) => {
      const own = RED.util.cloneMessage(msg);
      return Object.assign(own, fieldsOf(each, client, own));
    });
    return { messages };
  }

  #keep(client: DeviceCloudClient, wishes: readonly Wish[]): KeptPin[] {
    try {
      return wishes.map(({ chipid, pin, level }) =>
        client.keepPin(chipid, pin, level, this.#keeper),
      );
    } finally {
      this.#written(wishes);
    }
  }

  #throwIfClosed(config: GpioConfig, { chipid }: { chipid?: unknown }): void {
    if (this.#closing.signal.aborted) throw closed(deviceIn(config, chipid));
  }

  #keptLike(client: DeviceCloudClient, wishOf: (chipid: string) => Wish): string[] {
    return client.pins
      .saved(this.#keeper)
      .filter(({ chipid, pin }) => wishOf(chipid).pin === pin)
      .map(({ chipid }) => chipid);
  }

  /** Writes wishes to disk, unless they are there: a kill must not bring back what was wanted before. */
  async #write(client: DeviceCloudClient, wishes: readonly Wish[]): Promise<void> {
    if (!this.#kept) return;
    const saved = new Map(client.pins.saved(this.#keeper).map((pin) => [placeOf(pin), pin.wanted]));
    const isNew = (wish: Wish): boolean => {
      const place = placeOf(wish);
      return this.#wishes.has(place) || (saved.get(place) ?? null) !== wish.level;
    };
    const fresh = wishes.filter(isNew);
    if (fresh.length === 0) return;
    for (const wish of fresh) this.#wishes.set(placeOf(wish), wish);
    await this.#kept.flush(this.#snapshot);
  }

  #written(wishes: readonly Wish[]): void {
    for (const wish of wishes) {
      const place = placeOf(wish);
      if (this.#wishes.get(place) === wish) this.#wishes.delete(place);
      this.#errors.delete(place);
    }
  }

  /** @param removed whether the node is gone: then nothing is wanted any more */
  close(removed: boolean): void {
    this.#closing.abort();
    this.#endReading();
    this.#last = this.#snapshot();
    const all = this.#client?.pins.saved(this.#keeper).length ?? 0;
    if (removed && all > 0)
      this.#context.node.warn(
        `The node was removed: ${all === 1 ? 'its pin is' : `its ${all} pins are`} kept no more.`,
      );
    this.#client?.pins.release(this.#keeper);
  }

  /** Continues with what was kept. Never rejects. */
  async #start(): Promise<void> {
    const { app, node } = this.#context;
    const { signal } = this.#closing;
    const isOver = (): boolean => signal.aborted;
    const failed = (error: unknown): void => {
      node.warn(`Kept pins: ${messageOf(error)}`);
      this.#endReading();
    };
    while (!isOver()) {
      try {
        const client = await app.client('open');
        const kept = await app.kept(node, KEPT);
        const saved = await kept.readSurely(failed, signal);
        if (isOver()) return;
        kept.onProblem(() => this.#changed());
        this.#client = client;
        const pins = isObject(saved) ? saved['pins'] : [];
        client.pins.restore(this.#keeper, this.#stillMeant(pins));
        this.#kept = kept;
        this.#changed();
        return;
      } catch (error) {
        // What is missing in the configuration the node shows already; it is started anew when that changes.
        if (app.problem('open')) return;
        failed(error);
      }
      await sleep(RETRY, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Leaves out pins that the node has kept while it was set to another device or pin: nothing else would end them. */
  #stillMeant(saved: unknown): unknown[] {
    const { config, node } = this.#context;
    const isNumber = (type: string, text: string): boolean =>
      (type === 'num' || type === 'str') && /^\d{1,20}$/.test(text);
    const all = Array.isArray(saved) ? (saved as unknown[]) : [];
    const { chipid, chipidType, pin, pinType } = config;
    const set = {
      ...(isNumber(chipidType, chipid) && { chipid: parseChipid(chipid) }),
      ...(isNumber(pinType, pin) && { pin: Number(pin) }),
    };
    const meant = all.filter(
      (each) => !isObject(each) || Object.entries(set).every(([key, is]) => each[key] === is),
    );
    const ended = all.length - meant.length;
    if (ended > 0)
      node.warn(
        `The node was set to another device or pin: ${ended === 1 ? 'the pin that it kept is' : `the ${ended} pins that it kept are`} kept no more.`,
      );
    return meant;
  }

  readonly #snapshot = (): object =>
    this.#last ?? { pins: withWishes(this.#client?.pins.saved(this.#keeper) ?? [], this.#wishes) };

  #changed(): void {
    if (this.#closing.signal.aborted || !this.#kept) return;
    this.#kept.write(this.#snapshot);
    this.#context.showIdle(() => this.#status());
  }

  #status(): NodeStatus {
    const pins = this.#client?.pins.saved(this.#keeper) ?? [];
    const count = (of: KeptPin['state']): number => pins.filter(({ state }) => state === of).length;
    const all = pins.length;
    const [kept, pending, differs] = [count('kept'), count('pending'), count('differs')];
    const [error] = this.#errors.values();
    if (error && pending > 0) return failureStatus(error);
    if (this.#kept?.problem && differs === 0) return STATUS.notKept;
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
