import { DEVICE_TIMEOUT, readCommand, readDuration } from './call-options';
import { Subscription, type ChannelListener } from './channel/listener';
import { DeviceCloudClient } from './client';
import { APPLICATION } from './cloud-client';
import { NotSent, withoutCallbacks } from './cluster/calls';
import { Cluster } from './cluster/cluster';
import {
  HandOvers,
  type HandedOver,
  type KeptMessage,
  type SharedWaiting,
} from './cluster/hand-over';
import { Lending, type Lent } from './cluster/lending';
import { SharedListening } from './cluster/listening';
import type { UploadDecoder } from './commands/reply';
import type { Result } from './commands/saved-call';
import {
  readSelection,
  SEMAPHORE,
  type OwnOptions,
  type WaitingSelection,
} from './commands/waiting-list';
import { invalidInput, notConfigured } from './errors';
import type { LatestUpload } from './fleet/latest';
import { parseChipid } from './protocol/values';
import type { ClusterSettings } from './protocol/engine-address';
import type { Acknowledging } from './recovery/acknowledged';
import type { RecoverOptions } from './recovery/options';
import { readToken } from './recovery/token';
import type { ClientOptions } from './settings';
import { shareOf, type SharedStore } from './store/shared';
import type { Chipid, Level, Pin, PinKeeper, PulseOptions } from './types';
import { GUARD, WHOLE, type ClusterState } from './util/guard';
import { isObject } from './util/json';

export type { SharedWaiting } from './cluster/hand-over';
export type { Lent } from './cluster/lending';

/** The calls that the owner of a device makes, wherever they come from; and which argument after the device has the options. */
const SHARED = {
  gpioStatus: 0,
  refresh: 0,
  reboot: 0,
  latest: 0,
  push: 1,
  pushOverChannel: 1,
  rtStatus: 1,
  request: 1,
  setGpioEdge: 2,
  pulseGpio: 2,
  keepPin: 2,
} as const;
type SharedCall = keyof typeof SHARED;

const isShared = (name: string): name is SharedCall => Object.hasOwn(SHARED, name);

/** The settings that all processes must have alike. */
const AGREED = [
  ...(['timeout', 'heartbeat', 'ping', 'timestampUnit', 'deviceGap'] as const),
  ...(['pins', 'historyZone', 'charset'] as const),
];

/** Milliseconds that a call may take beyond its time-out: commands of other processes to the device come before it. */
const IN_QUEUE = 60_000;

/** Milliseconds for which this process has something to do with shares after its last listener has left: a deploy keeps them. */
const DEPLOY = 2000;

/** What processes of a cluster have for it. */
interface Sharing {
  /** Is filled from now on. */
  readonly store: SharedStore;
  /** This process's decoder of a type. */
  readonly decoderOf: (typeId: string) => UploadDecoder | undefined;
  readonly waiting: SharedWaiting;
}

/**
 * The client of a process that shares the devices of an application with others, on Redis or Valkey. Each device belongs to one of
 * them: it listens to the device, and makes the calls to it, wherever they come from.
 */
export class ClusterClient extends DeviceCloudClient {
  readonly #sharing: Sharing;
  readonly #lending: Lending;
  /** The commands that wait, of all processes. */
  handOvers!: HandOvers;
  readonly #listening = new SharedListening(
    (chipid) => this.owns(chipid),
    () => this.fleet.readList(),
  );
  /** Of the nodes of this process, which are the same in all. */
  readonly #keepers = new Map<string, PinKeeper>();
  /** The latest time at which somebody has listened or watched, by a clock that is never set. */
  #wantedAt = -Infinity;
  #cluster!: Cluster;
  readonly #onMoved = (): void => {
    this.#listening.begin();
    for (const keeper of this.#keepers.values()) void super.pins.restore(keeper);
  };

  static {
    for (const name of Object.keys(SHARED) as SharedCall[])
      Object.defineProperty(this.prototype, name, {
        value(this: ClusterClient, chipid: Chipid, ...others: unknown[]) {
          return this.#make(name, chipid, others);
        },
      });
  }

  private constructor(options: ClientOptions, sharing: Sharing) {
    const { store } = sharing;
    super({
      ...options,
      store,
      [GUARD]: {
        mayEmit: (chipid) => this.#cluster.mayEmit(chipid),
        send: (...command) => this.#cluster.exclusively(...command),
      },
    });
    this.#sharing = sharing;
    this.#lending = new Lending(store, () => this.#cluster.calls);
  }

  /**
   * Joins, in the background.
   * @throws DeviceCloudError `NOT_CONFIGURED`
   */
  static async join(
    options: ClientOptions,
    settings: ClusterSettings,
    sharing: Sharing,
  ): Promise<ClusterClient> {
    const client = new ClusterClient(options, sharing);
    try {
      const { appid } = client;
      if (appid === undefined)
        throw notConfigured('A cluster needs the appid and the app key of its application.');
      const { origin, ...all } = client[APPLICATION].settings;
      const cluster = await Cluster.open(settings, `${origin}/${appid}`, sharing.store, {
        settings: Object.fromEntries(AGREED.map((name) => [name, all[name]])),
        begin: () => client.handOvers.begin(),
        end: (share) => client.#end(share),
        finish: (share) => client.#finish(share),
        wants: () => client.#wants(),
        handle: (name, of, args) => client.#handle(name, of, args as unknown[]),
        onOrphan: (chipid, kept, result) => {
          if (kept) void client.handOvers.adopt(chipid, kept as KeptMessage, result);
        },
      });
      client.#cluster = cluster;
      // A call to several devices has its place before those that come while it is made.
      cluster.calls.arrivals.add((chipid) => {
        for (const arrived of client[APPLICATION].queues.arrivals) arrived(chipid);
      });
      client.handOvers = new HandOvers(sharing.waiting, {
        calls: cluster.calls,
        member: cluster.id,
        members: () => cluster.members,
        make: (name, args) => client.#own(name, args),
        letGo: (isOf) =>
          client[APPLICATION].open?.commands.letGo((_, saved) => !!saved && isOf(saved)),
      });
      sharing.store.onMoved.add(client.#onMoved);
      return client;
    } catch (error) {
      await DeviceCloudClient.prototype.close.call(client);
      throw error;
    }
  }

  /** Whether it may act: `awaiting` while the engine is away. */
  get state(): ClusterState {
    return this.#cluster.state;
  }

  /** The other processes. */
  get others(): number {
    return Math.max(0, this.#cluster.members.length - 1);
  }

  /** How many of the 64 shares are this process's. */
  get owned(): number {
    return this.#sharing.store.shares.size;
  }

  /** Whether a device is this process's. @param chipid undefined: what is about the whole application */
  owns(chipid: string = WHOLE): boolean {
    return this.#cluster.mayAct(chipid);
  }

  override get pins(): DeviceCloudClient['pins'] {
    const pins = super.pins;
    return {
      ...pins,
      restore: async (keeper) => {
        if (keeper.id !== undefined) this.#keepers.set(keeper.id, keeper);
        await pins.restore(keeper);
      },
      release: (id, isGone) => {
        this.#keepers.delete(id);
        pins.release(id, isGone);
      },
    };
  }

  override async latestAll(): Promise<{ uploads: LatestUpload[]; missing: number }> {
    const { answers, missing } = await this.#cluster.calls.askAll('latestAll', []);
    // A process that had a device before may still know one of it.
    const newest = new Map<string, LatestUpload>();
    for (const upload of answers.flatMap((each) => each as LatestUpload[])) {
      const known = newest.get(upload.chipid);
      if (!known || known.timestamp < upload.timestamp) newest.set(upload.chipid, upload);
    }
    return { uploads: [...newest.values()], missing };
  }

  override async cancelWaiting(which: WaitingSelection, options: { node?: string } = {}) {
    readSelection(which);
    const args = [which, options];
    const { answers, missing } = await this.#cluster.calls.askAll('cancelWaiting', args);
    return { cancelled: answers.reduce<number>((sum, each) => sum + Number(each), 0), missing };
  }

  override listen(
    chipid: Chipid,
    listener: ChannelListener,
    recover?: RecoverOptions,
  ): Subscription {
    const device = parseChipid(chipid);
    const join = (): Subscription => super.listen(device, listener, recover);
    return new Subscription(this.#listening.listen(device, listener, join));
  }

  override get acknowledged(): Acknowledging {
    const own = super.acknowledged;
    return {
      listen: (chipid, listener, options) =>
        this.#listening.listen(chipid, listener, () => own.listen(chipid, listener, options)),
      acknowledge: async (text) => {
        const { chipid } = readToken(text, this.appid as string);
        // It must not wait for commands to the device, which may take long.
        const { calls } = this.#cluster;
        const limit = DEVICE_TIMEOUT;
        return (await calls.callAtOnce('acknowledge', chipid, [text], limit, limit)) === true;
      },
    };
  }

  /** Has a listener of all processes listen to a device, or not any more. @throws DeviceCloudError as of a call */
  async setSubscribed(node: string, chipid: string, isOn: boolean): Promise<void> {
    const args = [node, isOn];
    await this.#cluster.calls.call('subscribe', chipid, args, DEVICE_TIMEOUT, DEVICE_TIMEOUT);
  }

  /** The devices to which a listener of all processes listens, and how many processes were silent. */
  async subscribed(node: string): Promise<{ chipids: string[]; missing: number }> {
    const { answers, missing } = await this.#cluster.calls.askAll('subscribed', [node]);
    return { chipids: answers.flatMap((each) => each as string[]), missing };
  }

  /** Borrows entries about the whole application: see {@link Lending}. */
  lend(prefix: string): Promise<Lent> {
    return this.#lending.borrow(prefix);
  }

  /** Gives all shares up, leaves, and ends. */
  override async close(): Promise<void> {
    this.#sharing.store.onMoved.delete(this.#onMoved);
    await this.#cluster.close();
    await super.close();
  }

  /** Whether this process has something to do with shares. */
  #wants(): boolean {
    // Another process may have the right one.
    if (this.#listening.isKeyRefused()) return false;
    const wants = this.#listening.size > 0 || this.fleet.isWatched || this.pins.list().length > 0;
    if (wants) this.#wantedAt = performance.now();
    return performance.now() - this.#wantedAt < DEPLOY;
  }

  #end(share: number): void {
    const isOf = (chipid: string): boolean => shareOf(chipid) === share;
    this.#listening.end(share);
    const { open } = this[APPLICATION];
    open?.pins.letGo(isOf);
    open?.commands.letGo(isOf);
    this.handOvers.letGo(isOf);
  }

  /** What is being emitted is emitted, and what is under way has ended. */
  async #finish(share: number): Promise<void> {
    this.#listening.end(share);
    // Positions count a turn after their messages.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await this[APPLICATION].queues.idle((chipid) => shareOf(chipid) === share);
  }

  /**
   * Makes a call in the process that has the device. Later changes of the state of a kept pin are reported in the process that has it
   * then, to the keeper with the same id.
   */
  async #make(name: SharedCall, chipid: Chipid, others: readonly unknown[]): Promise<unknown> {
    const device = parseChipid(chipid);
    const at = SHARED[name];
    const options = others[at] as PulseOptions | undefined;
    const limits = readCommand(options);
    const longest = 2 * limits.longest + readDuration(options) + IN_QUEUE;
    const saved = limits.origin?.saved;
    if (limits.when !== 'now') {
      if (!saved)
        throw invalidInput('Only commands of nodes can wait for a device of several processes.');
      // One that a node was given back is in the store by now: if the device moves, whoever has it then finds it there.
      if (saved.of(device))
        return this.handOvers.resume(device, saved, () => this.#own(name, [device, ...others]));
      return this.handOvers.handOver(device, saved, longest + limits.expires, limits);
    }
    // A call of several has its place from its turn here to its end, wherever it is made.
    const own = (options as OwnOptions | undefined)?.[SEMAPHORE]
      ? others.with(at, { ...options, [SEMAPHORE]: undefined })
      : others;
    const args = isObject(options) ? others.with(at, withoutCallbacks(options)) : others;
    const kept = saved && {
      toJSON: (): KeptMessage => ({ node: saved.node, what: saved.whatOf(device) }),
    };
    return this.#cluster.calls.call(name, device, args, longest, limits.longest, {
      caller: limits,
      kept,
      here: () => this.#perform(name, device, own),
    });
  }

  /** Makes a call of this process or of another one to a device of this process. */
  #perform(name: SharedCall, chipid: string, values: readonly unknown[]): Promise<unknown> {
    if (name === 'keepPin') {
      const [pin, level, keeper] = values as [Pin, Level, PinKeeper?];
      return super.keepPin(chipid, pin, level, this.#keepers.get(keeper?.id ?? '') ?? keeper);
    }
    const [message, options] = values;
    if (name === 'request') return this.#own(name, [chipid, message, this.#withDecoder(options)]);
    return this.#own(name, [chipid, ...values]);
  }

  async #subscribe(node: string, chipid: string, isOn: boolean): Promise<void> {
    const { store } = this.#sharing;
    const isWritten = await store.set(`subscribed:${node}:${chipid}`, isOn || undefined);
    if (!isWritten) throw new NotSent('The subscription could not be written down.');
    store.moved();
  }

  /** The options of a request of another process, with the decoder that they name. */
  #withDecoder(options: unknown): unknown {
    const decode = isObject(options) ? options['decode'] : undefined;
    if (!isObject(decode)) return options;
    const decoder = this.#sharing.decoderOf(String(decode['typeId']));
    if (!decoder)
      throw notConfigured(
        'The process that has the device does not have its type: all processes need the same flow.',
      );
    return { ...(options as object), decode: decoder };
  }

  #own(name: string, args: readonly unknown[]): Promise<unknown> {
    if (!isShared(name)) throw new NotSent(`This process does not know the call ${name}.`);
    const own = DeviceCloudClient.prototype[name] as (...all: unknown[]) => Promise<unknown>;
    return own.apply(this, [...args]);
  }

  /** What this process answers the others, and itself. */
  async #handle(name: string, chipid: string, values: readonly unknown[]): Promise<unknown> {
    const [first, second] = values;
    switch (name) {
      case 'wait':
        return this.handOvers.take(chipid, first as HandedOver);
      case 'ended':
        return this.handOvers.ended(first as string, second as Result);
      case 'acknowledge':
        return super.acknowledged.acknowledge(first);
      case 'subscribe':
        return this.#subscribe(String(first), chipid, second === true);
      case 'subscribed': {
        const prefix = `subscribed:${String(first)}:`;
        return this.#sharing.store.list(prefix).map(([key]) => key.slice(prefix.length));
      }
      case 'lend':
        return this.#lending.lend(String(first));
      case 'give-back':
        this.#lending.takeBack(...(values as Parameters<Lending['takeBack']>));
        return undefined;
      case 'latestAll':
        return [...this.fleet.latestAll()];
      case 'cancelWaiting':
        return this.waiting.cancel(first as WaitingSelection, second as { node?: string });
      default:
        return this.#perform(name as SharedCall, chipid, values);
    }
  }
}
