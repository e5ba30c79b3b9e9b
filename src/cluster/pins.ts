import type { ApplicationPins, KeepDeps, KeptPins } from '../commands/pins';
import {
  readSaved,
  type KeeperOptions,
  type KeptPin,
  type PinKeeper,
  type SavedPin,
  type WantedPin,
} from '../commands/wanted-pin';
import { DeviceCloudError } from '../errors';
import { isObject } from '../util/object';
import type { Cluster } from './cluster';
import { keeperIdOf, type Keepers } from './keepers';
import { isChipid, itemsOf, parsed, partsOf, type Bus } from './messages';
import type { PinStore, StoredPin } from './store';

/** Milliseconds in which changes are collected. */
const COLLECT = 500;

/** What a wish is as text: the pin as it is saved, without its number, and the id of its keeper. */
const textOf = (
  { wanted, found, state, since, setAt, lookedAt }: SavedPin,
  keeper: string,
): string => JSON.stringify({ wanted, found, state, since, setAt, lookedAt, keeper });

function readText({ chipid, pin, text }: StoredPin): { saved?: SavedPin; keeper: string } {
  const value = parsed(text);
  if (!isObject(value)) return { keeper: '' };
  const { keeper } = value;
  const saved = readSaved({ ...value, chipid, pin });
  return { ...(saved && { saved }), keeper: typeof keeper === 'string' ? keeper : '' };
}

const isStored = (value: unknown): value is StoredPin =>
  isObject(value) &&
  isChipid(value['chipid']) &&
  Number.isSafeInteger(value['pin']) &&
  Number.isSafeInteger(value['version']) &&
  typeof value['text'] === 'string';

/**
 * The pins of all processes that keep their levels. Each process knows them all, and looks after those of its devices. What is
 * wanted is in the store, under a version that counts all wishes: whoever has missed one sees it by that before its next look.
 */
export class SharedPins implements ApplicationPins {
  readonly #cluster: Cluster;
  readonly #bus: Bus;
  readonly #own: KeptPins;
  readonly #keepers: Keepers;
  readonly #pins: PinStore;
  readonly #leave: () => void;
  /** The last version up to which all wishes are known. */
  #known = -1;
  #learning: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Ends the claim of a share of the devices, which the first keeper begins. */
  #endUse: (() => void) | undefined;

  /** @param make makes what keeps the pins of this process's devices */
  constructor(
    cluster: Cluster,
    bus: Bus,
    keepers: Keepers,
    make: (shared: KeepDeps['shared']) => KeptPins,
  ) {
    this.#cluster = cluster;
    this.#pins = cluster.store.pins;
    this.#bus = bus;
    this.#keepers = keepers;
    keepers.onOver = (isOver) => this.#endStored(isOver);
    const own = make(this);
    this.#own = own;
    bus.on('pins', ({ pins, isState }) => {
      for (const each of itemsOf(pins).filter(isStored)) this.#hear(each, isState === true);
    });
    bus.on('rebooted', ({ chipid }) => {
      if (isChipid(chipid)) own.rebooted(chipid);
    });
    this.#leave = cluster.listen({
      onShare: () => {
        own.moved();
        void this.learn();
      },
      onState: () => void this.learn(),
      onUnsettled: () => this.#putBack(),
    });
  }

  /** Whether this process looks after a device. */
  owns(chipid: string): boolean {
    return this.#cluster.owns(chipid);
  }

  async wish(
    chipid: string,
    number: number,
    level: 0 | 1 | null,
    options: KeeperOptions,
  ): Promise<KeptPin> {
    const keeper = this.#register(options);
    const before = this.#own.get(chipid, number);
    const since = Date.now();
    const found = before?.found ?? null;
    const fresh = { found, state: 'pending', setAt: null, lookedAt: null } as const;
    const known = before?.wanted === level ? this.#own.toSave(before) : fresh;
    const text =
      level === null
        ? undefined
        : textOf({ ...known, chipid, pin: number, wanted: level, since }, keeper);
    const version = await this.#write(chipid, number, text);
    this.#tell([{ chipid, pin: number, version, text: text ?? '' }]);
    this.#follow(version);
    const kept = this.#own.keep(chipid, number, level, options);
    const pin = this.#own.get(chipid, number);
    if (pin) pin.version = version;
    return kept;
  }

  list(chipid?: string): KeptPin[] {
    return this.#own.list(chipid);
  }

  release(keeper: PinKeeper): void {
    const { own } = this.#keepers;
    if (own.get(keeperIdOf(keeper))?.keeper === keeper) own.delete(keeperIdOf(keeper));
    this.#own.release(keeper);
    if (own.size > 0) return;
    this.#endUse?.();
    this.#endUse = undefined;
  }

  end(keeper: PinKeeper): void {
    const ended = this.#own.saved(keeper);
    this.release(keeper);
    for (const { chipid, pin } of ended) {
      const writing = this.#pins.write(chipid, pin, undefined).then(
        (version) => this.#tell([{ chipid, pin, version, text: '' }]),
        () => undefined,
      );
      this.#cluster.track(writing);
    }
    // What could not be written, or was not known yet.
    this.forget(keeperIdOf(keeper));
  }

  forget(keeper: string): void {
    this.#keepers.end(keeper);
  }

  saved(keeper: PinKeeper): SavedPin[] {
    return this.#own.saved(keeper);
  }

  /** Continues with what is in the store: nothing else survives. */
  restore(_: unknown, options: KeeperOptions): void {
    this.#register(options);
    this.#known = -1;
    void this.learn();
  }

  rebooted(chipid: string): void {
    this.#own.rebooted(chipid);
    if (!this.#cluster.owns(chipid)) this.#bus.post(undefined, 'rebooted', { chipid });
  }

  close(): void {
    this.#leave();
    this.#endUse?.();
    clearTimeout(this.#timer);
    this.#writeStates();
    this.#own.close();
  }

  /** Reads all wishes, unless all are known. Never rejects: without the engine no command is sent anyway. */
  learn(): Promise<void> {
    return (this.#learning ??= this.#learn().finally(() => (this.#learning = undefined)));
  }

  async #learn(): Promise<void> {
    if (this.#keepers.own.size === 0) return;
    try {
      const version = await this.#pins.version();
      if (version === this.#known) return;
      const stored = await this.#pins.list();
      const left = new Set<WantedPin>(this.#own.all());
      for (const each of stored) {
        const pin = this.#own.get(each.chipid, each.pin);
        if (pin) left.delete(pin);
        this.#hear(each, false);
      }
      // A wish of this process that has just been written has a newer version.
      for (const pin of left) if (pin.version <= version) this.#own.drop(pin);
      this.#known = Math.max(this.#known, version);
    } catch {
      // The next look tries again.
    }
  }

  #register(options: KeeperOptions): string {
    this.#endUse ??= this.#cluster.claims.use('follows');
    return this.#keepers.add(options);
  }

  /** Ends wishes that are stored, but none that is newer than what was read. @throws StoreError */
  async #endStored(isOver: (keeper: string) => boolean): Promise<void> {
    const ended = (await this.#pins.list()).map(async (each): Promise<StoredPin[]> => {
      const { chipid, pin, version: before } = each;
      if (!isOver(readText(each).keeper)) return [];
      const version = await this.#pins.write(chipid, pin, undefined, { version: before });
      return version > 0 ? [{ chipid, pin, version, text: '' }] : [];
    });
    this.#tell((await Promise.all(ended)).flat());
  }

  /** @throws DeviceCloudError `UNREACHABLE` */
  async #write(chipid: string, pin: number, text: string | undefined): Promise<number> {
    try {
      return await this.#pins.write(chipid, pin, text);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new DeviceCloudError(
        'UNREACHABLE',
        `Not kept: the cluster cannot be reached (${reason}). Pin ${pin} of device ${chipid} stays as it is.`,
      );
    }
  }

  /** What another process wishes, or has found. @param isState whether it is about the state alone */
  #hear(stored: StoredPin, isState: boolean): void {
    const { chipid, pin: number, version, text } = stored;
    const known = this.#own.get(chipid, number);
    if (!isState) this.#follow(version);
    if (known && version < known.version) return;
    if (text === '') {
      if (known && version > known.version) this.#own.drop(known);
      return;
    }
    const { saved, keeper } = readText(stored);
    const options = this.#keepers.own.get(keeper);
    if (!saved || !options) return;
    // The owner of a device knows best what it has found.
    if (known?.version === version && this.#cluster.owns(chipid)) return;
    const pin = this.#own.adopt(saved, options);
    if (!pin) return;
    pin.version = version;
    pin.changed();
    pin.isDirty = false;
  }

  /** Wishes are known without a gap up to this one. */
  #follow(version: number): void {
    if (version === this.#known + 1) this.#known = version;
  }

  #tell(pins: readonly StoredPin[], isState = false): void {
    for (const part of partsOf(pins)) this.#bus.post(undefined, 'pins', { pins: part, isState });
  }

  /** Something of a pin has changed that others have to know. */
  changed(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writeStates();
    }, COLLECT);
  }

  /** Writes what was found of this process's devices, so that the next one that looks after them goes on from there. */
  #writeStates(): void {
    const told: StoredPin[] = [];
    for (const pin of this.#own.all()) {
      if (!pin.isDirty || pin.version === 0 || !this.#cluster.owns(pin.chipid)) continue;
      pin.isDirty = false;
      const { chipid, pin: number, version } = pin;
      const text = this.#textOf(pin);
      told.push({ chipid, pin: number, version, text });
      const writing = this.#pins.write(chipid, number, text, { version });
      this.#cluster.track(writing.catch(() => (pin.isDirty = true)));
    }
    this.#tell(told, true);
  }

  /** The store may have lost them. */
  #putBack(): void {
    for (const pin of this.#own.all()) {
      const { chipid, pin: number, version } = pin;
      const options = { version, isLost: true };
      if (version > 0)
        this.#pins.write(chipid, number, this.#textOf(pin), options).catch(() => undefined);
    }
  }

  #textOf(pin: WantedPin): string {
    return textOf(this.#own.toSave(pin), keeperIdOf(pin.options.keeper));
  }
}
