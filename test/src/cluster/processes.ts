import { Cluster } from '../../../src/cluster/cluster';
import { openRedisStore } from '../../../src/cluster/redis/redis-store';
import { MemoryStore } from './memory-store';
import { StoreError, type Store } from '../../../src/cluster/store';
import type {
  ChannelSubscription,
  ClientOptions,
  ClusterMember,
  RecoverOptions,
} from '../../../src/for-nodes';
import type { DeviceCloudClient } from '../../../src/client';
import type { Simulator } from '../../../src/simulator';
import { atEnd } from '../../../tooling/servers/at-end';
import { until } from '../../../tooling/until';
import { clientOf, simulator as startSimulated } from '../support/client';

/** Seconds; shorter than a user may set, since nothing else is to be done meanwhile. */
const LEASE = 0.6;

/** What is between one process and the store of all. */
interface Line {
  isCut: boolean;
}

/** The store at the end of a line that can be cut. */
function through(line: Line, store: Store): Store {
  const cut = (): Promise<never> => Promise.reject(new StoreError('The line is cut.', true));
  return new Proxy(store, {
    get(target, name) {
      const method: unknown = Reflect.get(target, name);
      if (name === 'calls' || name === 'pins' || name === 'values')
        return through(line, method as Store);
      if (typeof method !== 'function') return method;
      const call = method.bind(target) as (...args: unknown[]) => unknown;
      if (name === 'close') return () => Promise.resolve();
      if (name === 'subscribe')
        return (topic: string, listener: (text: string) => void) =>
          target.subscribe(topic, (text) => (line.isCut ? undefined : listener(text)));
      return (...args: unknown[]) => (line.isCut ? cut() : call(...args));
    },
  });
}

/** One process: its membership and its client, and what its listeners have received. */
export class ProcessModel {
  readonly line: Line = { isCut: false };
  readonly member: ClusterMember;
  client: DeviceCloudClient;
  readonly subscriptions = new Map<string, ChannelSubscription>();
  /** Bodies as texts, by device. */
  readonly received = new Map<string, string[]>();
  readonly replayed: string[] = [];
  readonly faults: string[] = [];
  private isKilled = false;

  constructor(
    store: Store,
    private readonly simulator: Pick<Simulator, 'baseUrl'>,
    private readonly options: Partial<ClientOptions> = {},
  ) {
    this.member = new Cluster({ store: through(this.line, store), lease: LEASE });
    this.client = this.newClient();
    this.member.listen({ onFault: (fault) => this.faults.push(fault) });
    atEnd(() => this.member.close());
  }

  listen(chipid: string, recover: RecoverOptions = {}): void {
    const subscription = this.client.listen(
      chipid,
      {
        onUpload: ({ body, replayed }) => {
          const text = body.toString();
          // As Node-RED does: it passes a message on in the next turn, and drops it if the listener has ended.
          setImmediate(() => {
            if (this.isKilled || this.subscriptions.get(chipid) !== subscription) return;
            this.received.set(chipid, [...(this.received.get(chipid) ?? []), text]);
            if (replayed) this.replayed.push(text);
          });
        },
        onFault: (fault) => this.faults.push(fault),
      },
      recover,
    );
    this.subscriptions.set(chipid, subscription);
  }

  unlisten(chipid: string): void {
    this.subscriptions.get(chipid)?.release();
    this.subscriptions.delete(chipid);
  }

  /** Ends its listeners and its client, and makes new ones on the same membership. */
  async redeploy(): Promise<void> {
    const chipids = [...this.subscriptions.keys()];
    for (const chipid of chipids) this.unlisten(chipid);
    await this.client.close();
    this.client = this.newClient();
    for (const chipid of chipids) this.listen(chipid);
  }

  /** The state of a device's channel here. */
  state(chipid: string): string | undefined {
    return this.subscriptions.get(chipid)?.channel.state;
  }

  private newClient(): DeviceCloudClient {
    return clientOf(this.simulator.baseUrl, { ...this.options, cluster: this.member });
  }

  /** Ends it like a power cut: its channels are cut, and it does not leave the cluster. */
  async kill(): Promise<void> {
    this.line.isCut = this.isKilled = true;
    await this.client.close();
    await this.member.close();
  }
}

/** Several processes with one application. */
export class Processes {
  readonly store: Store;
  readonly all: ProcessModel[];

  constructor(
    readonly simulator: Simulator,
    count: number,
    options: Partial<ClientOptions> = {},
    /** That of each process; those without one use the first. */
    readonly stores: readonly Store[] = [new MemoryStore()],
  ) {
    [this.store] = stores as [Store];
    this.all = Array.from(
      { length: count },
      (_, index) => new ProcessModel(stores[index] ?? this.store, simulator, options),
    );
  }

  get chipids(): string[] {
    return [...this.simulator.devices.keys()];
  }

  listen(recover?: RecoverOptions): void {
    for (const each of this.all) for (const chipid of this.chipids) each.listen(chipid, recover);
  }

  /** The process that has a device's channel open. */
  owner(chipid: string): ProcessModel | undefined {
    return this.all.find((each) => each.state(chipid) === 'connected');
  }

  /** The device's channel is connected in one of them, and no other has one. */
  isServed(chipid: string, alive: readonly ProcessModel[] = this.all): boolean {
    const states = alive.map((each) => each.state(chipid));
    return (
      states.filter((state) => state === 'connected').length === 1 &&
      states.filter((state) => state === 'elsewhere').length === alive.length - 1
    );
  }

  async served(alive: readonly ProcessModel[] = this.all): Promise<void> {
    const share = (each: ProcessModel): boolean =>
      this.chipids.some((chipid) => each.state(chipid) === 'connected');
    await until(
      () => alive.every(share) && this.chipids.every((chipid) => this.isServed(chipid, alive)),
      `each device is served by one of ${alive.length}`,
    );
  }

  /** All that was received of a device, by any of them. */
  texts(chipid: string): string[] {
    return this.all.flatMap((each) => each.received.get(chipid) ?? []);
  }

  /** Lets each device upload. @returns the texts, by device */
  uploadAll(text: string): void {
    for (const chipid of this.chipids) this.simulator.upload(chipid, text);
  }

  /** Waits until each device has been received this often. */
  async receivedAll(count: number): Promise<void> {
    await until(
      () => this.chipids.every((chipid) => this.texts(chipid).length >= count),
      `${count} uploads of each device`,
    );
  }
}

/** Two processes that share eight devices through an engine, and listen. @param first the port by which the first one reaches it */
export async function processesOn(port: number, first = port): Promise<Processes> {
  const open = async (port: number): Promise<Store> => {
    const url = `redis://127.0.0.1:${port}`;
    const store = await openRedisStore({ url, application: '1', limit: 400 });
    atEnd(() => store.close());
    return store;
  };
  const stores = await Promise.all([open(first), open(port)]);
  const world = new Processes(await startSimulated({ devices: 8 }), 2, {}, stores);
  world.listen();
  await world.served();
  return world;
}
