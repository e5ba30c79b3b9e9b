import { NotSent, type Result } from './cluster/calls';
import { Cluster, shareOf, type ClusterSettings, type ClusterState } from './cluster/cluster';
import { ClusterStore } from './cluster/cluster-store';
import type { ChannelListener, ChannelSubscription, ChannelView } from './channel/listener';
import { checkSentNow, DEVICE_TIMEOUT, readDuration, readLimits } from './caller';
import { APPLICATION, DeviceCloudClient, LET_GO, type Pins } from './client';
import { CALLING } from './commands/outcome';
import { semaphoreOf } from './commands/many';
import { notConfigured } from './errors';
import type { LatestUpload } from './fleet/latest';
import { parseChipid } from './input/chipid';
import { readSelection, type WaitingSelection } from './commands/waiting-list';
import type { RecoverOptions } from './recovery/options';
import type { ClientOptions } from './settings';
import { Subscription } from './subscription';
import type { Chipid, Level, Pin, PinKeeper, PulseOptions } from './types';
import { GUARD } from './util/guard';
import { isObject } from './util/object';
import { isolated } from './util/thrown';

/** The calls that the owner of a device makes, wherever they come from; and which argument after the device has the options. */
const SHARED = {
  ...{ gpioStatus: 0, refresh: 0, reboot: 0, latest: 0 },
  ...{ push: 1, pushOverChannel: 1, rtStatus: 1, request: 1 },
  ...{ setGpioEdge: 2, pulseGpio: 2, keepPin: 2 },
} as const;
type SharedCall = keyof typeof SHARED;

const isShared = (name: string): name is SharedCall => Object.hasOwn(SHARED, name);

/** Milliseconds that a call may take beyond its time-out: commands of other processes to the device come before it. */
const IN_QUEUE = 60_000;

/** Milliseconds for which this process has something to do with shares after its last listener has left: a deploy keeps them. */
const DEPLOY = 2000;

/** The arguments of a call after the device: as they are for this process, as JSON for another one. */
class Arguments {
  constructor(
    readonly values: readonly unknown[],
    readonly optionsAt = -1,
  ) {}

  /** Callbacks and signals stay here. */
  toJSON(): unknown[] {
    return this.values.map((value, at) =>
      at === this.optionsAt && isObject(value) ? withoutCallbacks(value) : value,
    );
  }
}

function withoutCallbacks(value: Record<string, unknown>): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  // An option may be inherited.
  for (const name in value)
    if (typeof value[name] !== 'function' && name !== 'signal') plain[name] = value[name];
  return plain;
}

/** A listener's place on the channel of a device, which is open while the device is this process's. */
class SharedSubscription implements ChannelSubscription {
  joined: ChannelSubscription | undefined;

  constructor(
    readonly chipid: string,
    readonly listener: ChannelListener,
    readonly join: () => ChannelSubscription,
    readonly onRelease: (subscription: SharedSubscription) => void,
  ) {}

  get channel(): ChannelView {
    return this.joined?.channel ?? { state: 'connecting', reason: undefined };
  }

  /** The device is this process's from now on. */
  begin(): void {
    if (this.joined) return;
    this.joined = this.join();
    const { state, reason } = this.channel;
    isolated(() => this.listener.onState?.(state, reason));
  }

  /** It is another's. */
  end(): void {
    this.joined?.release();
    this.joined = undefined;
    isolated(() => this.listener.onState?.('connecting'));
  }

  release(): void {
    this.joined?.release();
    this.joined = undefined;
    this.onRelease(this);
  }
}

/** What happens in a cluster that is not an answer to a call. */
export interface ClusterObserver {
  /** {@link ClusterClient.state} or {@link ClusterStore.problem} have changed, or who is a member. */
  onChange?(): void;
  /** A call has ended whose caller is no member any more. */
  onOrphan?(name: string, chipid: string, args: readonly unknown[], result: Result): void;
}

/**
 * The client of a process that shares the devices of an application with others, on Redis or Valkey. Each device belongs to one of
 * them: it listens to the device, and makes the calls to it, wherever they come from.
 */
export class ClusterClient extends DeviceCloudClient {
  readonly #store: ClusterStore;
  readonly #listening = new Set<SharedSubscription>();
  /** Of the nodes of this process, which are the same in all. */
  readonly #keepers = new Map<string, PinKeeper>();
  /** The latest time at which somebody has listened or watched, by a clock that is never set. */
  #wantedAt = -Infinity;
  #cluster!: Cluster;

  private constructor(options: ClientOptions, store: ClusterStore) {
    super({
      ...options,
      store,
      [GUARD]: {
        mayEmit: (chipid) => this.#cluster.mayEmit(chipid),
        send: (chipid, ms, send) => {
          const check = (): void => {
            if (!this.#cluster.mayAct(chipid))
              throw new NotSent('The process that had the device may not act for it any more.');
          };
          check();
          return this.#cluster.exclusively(chipid, ms, { check }, send);
        },
      },
    });
    this.#store = store;
  }

  /**
   * Joins, in the background.
   * @param store is filled from now on
   * @throws DeviceCloudError `NOT_CONFIGURED`
   */
  static async join(
    options: ClientOptions,
    settings: ClusterSettings,
    store = new ClusterStore(),
    observer: ClusterObserver = {},
  ): Promise<ClusterClient> {
    const client = new ClusterClient(options, store);
    try {
      const { appid } = client;
      if (appid === undefined)
        throw notConfigured('A cluster needs the appid and the app key of its application.');
      const { origin } = client[APPLICATION].settings;
      client.#cluster = await Cluster.open(settings, `${origin} ${appid}`, {
        begin: (share) => client.#begin(share),
        end: (share) => client.#end(share),
        finish: (share) => client.#finish(share),
        wants: () => client.#wants,
        handle: (name, of, args) => client.#handle(name, of, args),
        onOrphan: (name, chipid, args, result) =>
          observer.onOrphan?.(name, chipid, valuesOf(args), result),
        onChange: () => {
          store.changed();
          observer.onChange?.();
        },
      });
      store.attach(client.#cluster);
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
    return this.#cluster.owned.length;
  }

  /** Whether a device is this process's. */
  owns(chipid: string): boolean {
    return this.#cluster.mayAct(chipid);
  }

  override push(...args: Parameters<DeviceCloudClient['push']>) {
    return this.#share('push', args);
  }

  override pushOverChannel(...args: Parameters<DeviceCloudClient['pushOverChannel']>) {
    return this.#share('pushOverChannel', args);
  }

  override rtStatus(...args: Parameters<DeviceCloudClient['rtStatus']>) {
    return this.#share('rtStatus', args);
  }

  override gpioStatus(...args: Parameters<DeviceCloudClient['gpioStatus']>) {
    return this.#share('gpioStatus', args);
  }

  override setGpioEdge(...args: Parameters<DeviceCloudClient['setGpioEdge']>) {
    return this.#share('setGpioEdge', args);
  }

  override pulseGpio(...args: Parameters<DeviceCloudClient['pulseGpio']>) {
    return this.#share('pulseGpio', args);
  }

  /** Later changes of its state are reported in the process that has the device then, to the keeper with the same id. */
  override keepPin(...args: Parameters<DeviceCloudClient['keepPin']>) {
    return this.#share('keepPin', args);
  }

  override get pins(): Pins {
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

  override refresh(...args: Parameters<DeviceCloudClient['refresh']>) {
    return this.#share('refresh', args);
  }

  override reboot(...args: Parameters<DeviceCloudClient['reboot']>) {
    return this.#share('reboot', args);
  }

  override request(...args: Parameters<DeviceCloudClient['request']>) {
    return this.#share('request', args);
  }

  override latest(...args: Parameters<DeviceCloudClient['latest']>) {
    return this.#share('latest', args);
  }

  override async latestAll(): Promise<{ uploads: LatestUpload[]; missing: number }> {
    const { answers, missing } = await this.#cluster.calls.askAll('latestAll', new Arguments([]));
    return { uploads: answers.flatMap((each) => each as LatestUpload[]), missing };
  }

  override async cancelWaiting(which: WaitingSelection, options: { node?: string } = {}) {
    readSelection(which);
    const args = new Arguments([which, options]);
    const { answers, missing } = await this.#cluster.calls.askAll('cancelWaiting', args);
    return { cancelled: answers.reduce<number>((sum, each) => sum + Number(each), 0), missing };
  }

  override listen(
    chipid: Chipid,
    listener: ChannelListener,
    recover?: RecoverOptions,
  ): Subscription {
    const device = parseChipid(chipid);
    // Each time anew: what is kept has come with the share.
    const join = (): ChannelSubscription => super.listen(device, listener, recover);
    const shared = new SharedSubscription(device, listener, join, (released) => {
      this.#listening.delete(released);
      this.#wantsChanged();
    });
    this.#listening.add(shared);
    if (this.owns(device)) shared.begin();
    if (this.#listening.size === 1) this.#cluster.changed();
    return new Subscription(shared);
  }

  /** Gives all shares up, leaves, and ends. */
  override async close(): Promise<void> {
    await this.#cluster.close();
    await super.close();
  }

  get #wants(): boolean {
    const wants =
      this.#listening.size > 0 ||
      this[APPLICATION].registry.isWatched ||
      this.pins.list().length > 0;
    if (wants) this.#wantedAt = performance.now();
    return performance.now() - this.#wantedAt < DEPLOY;
  }

  #wantsChanged(): void {
    if (this.#listening.size === 0) setTimeout(() => this.#cluster.changed(), DEPLOY).unref();
  }

  #begin(share: number): void {
    for (const listening of this.#listening)
      if (shareOf(listening.chipid) === share) listening.begin();
    for (const keeper of this.#keepers.values()) void super.pins.restore(keeper);
    this.#store.moved();
  }

  #end(share: number): void {
    const isOf = (chipid: string): boolean => shareOf(chipid) === share;
    for (const listening of this.#listening) if (isOf(listening.chipid)) listening.end();
    this[LET_GO](isOf);
    this.#store.moved();
  }

  /** What is being emitted is emitted, and what is under way has ended. */
  async #finish(share: number): Promise<void> {
    for (const listening of this.#listening)
      if (shareOf(listening.chipid) === share) listening.end();
    // Positions count a turn after their messages.
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    await this[APPLICATION].queues.idle((chipid) => shareOf(chipid) === share);
  }

  /** Makes a call in the process that has the device. */
  #share<N extends SharedCall>(
    name: N,
    args: Parameters<DeviceCloudClient[N]>,
  ): ReturnType<DeviceCloudClient[N]> {
    const [chipid, ...others] = args as [Chipid, ...unknown[]];
    return this.#make(name, chipid, others) as ReturnType<DeviceCloudClient[N]>;
  }

  async #make(name: SharedCall, chipid: Chipid, others: readonly unknown[]): Promise<unknown> {
    const device = parseChipid(chipid);
    const options = others[SHARED[name]] as PulseOptions | undefined;
    checkSentNow(options, 'A command of several processes');
    const { seconds, progress } = readLimits(options, DEVICE_TIMEOUT);
    const timeout = seconds * 1000;
    const longest = 2 * timeout + readDuration(options) + IN_QUEUE;
    const args = new Arguments(others, SHARED[name]);
    const call = (): Promise<unknown> =>
      this.#cluster.calls.call(name, device, args, longest, timeout);
    if (this.owns(device)) return call();
    progress?.(CALLING);
    return semaphoreOf(options)?.run(call) ?? call();
  }

  async #handle(name: string, chipid: string, args: unknown): Promise<unknown> {
    const values = valuesOf(args);
    if (name === 'latestAll') return [...this.fleet.latestAll()];
    if (name === 'cancelWaiting')
      return this.waiting.cancel(values[0] as WaitingSelection, values[1] as { node?: string });
    if (!isShared(name)) throw new NotSent(`This process does not know the call ${name}.`);
    if (name === 'keepPin') {
      const { id = '' } = (values[2] ?? {}) as PinKeeper;
      return super.keepPin(
        chipid,
        values[0] as Pin,
        values[1] as Level,
        this.#keepers.get(id) ?? (values[2] as PinKeeper | undefined),
      );
    }
    const own = DeviceCloudClient.prototype[name] as (...all: unknown[]) => Promise<unknown>;
    return own.call(this, chipid, ...values);
  }
}

const valuesOf = (args: unknown): readonly unknown[] =>
  args instanceof Arguments ? args.values : Array.isArray(args) ? (args as unknown[]) : [];
