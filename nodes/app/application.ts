import type { Node, NodeAPI } from 'node-red';
import {
  type Book,
  type BookProblem,
  type Charset,
  type ClientOptions,
  type ClusterClient,
  type ClusterSettings,
  DeviceCloudClient,
  DeviceCloudError,
  type DeviceLimits,
  deviceTitle,
  dropLeadingZeros,
  type Fleet,
  isDeviceCloudError,
  type Keeping,
  notConfigured,
  type SharedStore,
  type WaitingCommands,
} from '../../src/index';
import type { Api, App, ClusterView } from '../common/app';
import { decoderOf, typeCalled, decodeBody } from '../common/device-types';
import { messageOf } from '../common/errors';
import { BOOK_TOPIC, isObject } from '../common/shared.config';
import type { AppConfig, AppCredentials } from './app.config';
import { bookOf, clusterOf, clientOptions, commonSettings, lacking, readSettings } from './options';
import {
  memoryOf,
  optionsOf,
  useSimulator,
  type SharedSimulator,
  type SimulatorUse,
} from './simulator';
import { openStore } from './store';
import { Keeper } from './waiting';

/** The config node at run time. */
export interface AppNode extends Node<AppCredentials> {
  app: Application;
  /** Nodes that use this one, so that its errors and status reach their Catch and Status nodes. */
  users: Record<string, Node>;
}

/** Lines of the log for one reading of the book. */
const MOST_LINES = 20;

const textOf = ({ line, reason }: BookProblem): string =>
  line === 0 ? reason : `Line ${line} of the device book is left out: it ${reason}.`;

/** Logs the faults of the book, now and after each change; earlier ones are not repeated. Changes are published to the editor. */
function follow(RED: NodeAPI, node: Node, book: Book): void {
  let logged = new Set<string>();
  const log = (): void => {
    const lines = book.problems.map(textOf);
    const fresh = lines.filter((line) => !logged.has(line));
    logged = new Set(lines);
    for (const line of fresh.slice(0, MOST_LINES)) node.warn(line);
  };
  book.onChange(() => {
    log();
    RED.comms.publish(BOOK_TOPIC, { id: node.id }, false);
  });
  log();
}

/** Judges uploads by the limits of the types that the book names. */
function judge(client: DeviceCloudClient, store: Keeping, node: Node, charset: Charset): void {
  const { fleet } = client;
  const limitsOf = (chipid: string): DeviceLimits | undefined => {
    const name = fleet.book?.find(chipid)?.type;
    const type = name === undefined ? undefined : typeCalled(name);
    if (!type?.limits) return undefined;
    const decode = (body: Buffer): Record<string, unknown> | undefined => {
      const decoded = decodeBody(body, { datatype: 'auto-detect', charset, type });
      return 'value' in decoded && isObject(decoded.value) ? decoded.value : undefined;
    };
    return { limits: type.limits, decode };
  };
  void store.loaded.then(() => fleet.judge(store, node.id, limitsOf));
}

/** Milliseconds for which a fleet is kept up to date after a request. */
const KEPT = 60_000;
/** Milliseconds between two readings of the list meanwhile. */
const INTERVAL = 30_000;

/** Keeps a fleet up to date while it is viewed: the list of online devices is polled until a minute after the last request. */
export class FleetView {
  #polled: Fleet | undefined;
  #leave: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Begins, or continues for another minute. A client that was closed and recreated has another fleet. */
  look(fleet: Fleet): void {
    if (fleet !== this.#polled) {
      this.close();
      this.#polled = fleet;
      this.#leave = fleet.pollList(INTERVAL, {});
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), KEPT);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#leave?.();
    this.#leave = this.#polled = undefined;
  }
}

const notJoined = (): Promise<never> =>
  Promise.reject(
    new DeviceCloudError('UNREACHABLE', 'Nothing was sent, since the cluster is not joined yet.'),
  );

const NOT_JOINED: ClusterView = {
  state: 'joining',
  owned: 0,
  others: 0,
  owns: () => false,
  setSubscribed: notJoined,
  subscribed: notJoined,
  lend: notJoined,
};

/**
 * An application with its client, which is made when it is first needed: for a service, or with the simulator inside this
 * process. The settings of a service are checked at once.
 */
export class Application implements App {
  /** Those that something uses. */
  static readonly #inUse = new Set<Application>();
  readonly isSimulated: boolean;
  readonly isShared: boolean;
  readonly memory: Keeping | undefined;
  readonly charset: Charset;
  readonly keeper: Keeper;
  /** Its properties as deployed, with each `${NAME}` replaced. */
  readonly config: AppConfig;
  readonly #RED: NodeAPI;
  readonly #node: AppNode;
  readonly #simulator: SharedSimulator;
  readonly #store: Keeping;
  readonly #view = new FleetView();
  /** How many use it now. */
  #users = 0;
  /** By the nodes that use it: what is called if making the client shows that the settings are wrong. */
  readonly #reports = new Map<string, (problem: DeviceCloudError) => void>();
  #stopped: Promise<unknown> = Promise.resolve();
  /** The client once it is ready, and what makes it. */
  #client: DeviceCloudClient | undefined;
  #making: Promise<DeviceCloudClient> | undefined;
  #simulated: SimulatorUse | undefined;
  /** Of a service. */
  #options: ClientOptions | undefined;
  /** What is wrong with the settings, as they show at once or when the client is made. */
  #problem: DeviceCloudError | undefined;
  /** Why an interface cannot be used. */
  readonly #lacking: Partial<Record<Api, DeviceCloudError | undefined>> = {};
  #book: string | undefined;
  #cluster: ClusterSettings | undefined;
  /** The client, if other processes share the devices. */
  #shared: ClusterClient | undefined;

  constructor(RED: NodeAPI, node: AppNode, def: AppConfig, simulator: SharedSimulator) {
    const { config, problem } = readSettings(def);
    const { charset, service, cluster } = config;
    this.#RED = RED;
    this.#node = node;
    this.config = config;
    this.#simulator = simulator;
    this.charset = charset;
    this.isSimulated = service === 'simulator';
    this.isShared = cluster !== '' && !this.isSimulated;
    this.memory = this.isSimulated ? memoryOf(simulator) : undefined;
    this.#store = openStore(RED, node, () => this.application, this.isShared);
    this.keeper = new Keeper(RED, node, {
      store: this.#store,
      isUsable: () => this.problem('open') === undefined,
      sharing: () => this.#shared?.handOvers,
      application: () => this.application,
      titleOf: (chipid) => this.fleet?.titleOf(chipid) ?? deviceTitle(chipid),
    });
    try {
      this.#readSettings(problem);
    } catch (error) {
      this.#problem = error instanceof DeviceCloudError ? error : notConfigured(messageOf(error));
    }
  }

  /** @throws whatever is wrong with them */
  #readSettings(problem: string | undefined): void {
    if (problem !== undefined) throw notConfigured(problem);
    const RED = this.#RED;
    const node = this.#node;
    this.#book = bookOf(RED, node, this.config);
    this.#cluster = clusterOf(RED, this.config);
    if (this.isSimulated) return;
    const read = clientOptions(RED, node, { ...this.config, ...node.credentials });
    const options = { ...read.options, store: this.#store };
    // Checks them.
    void new DeviceCloudClient(options).close();
    this.#options = options;
    for (const api of ['open', 'server'] as const) this.#lacking[api] = lacking(read, api);
  }

  problem(api: Api): DeviceCloudError | undefined {
    return this.#problem ?? this.#lacking[api];
  }

  join(user: Node, onProblem?: (problem: DeviceCloudError) => void): void {
    const { users } = this.#node;
    if (onProblem) this.#reports.set(user.id, onProblem);
    if (!(user.id in users)) this.#enter();
    users[user.id] = user;
  }

  leave(user: Node): void {
    const { users } = this.#node;
    if (users[user.id] !== user) return;
    Reflect.deleteProperty(users, user.id);
    this.#reports.delete(user.id);
    this.#exit();
  }

  async borrow<T>(api: Api, use: (client: DeviceCloudClient) => Promise<T>): Promise<T> {
    this.#enter();
    try {
      return await use(await this.client(api));
    } finally {
      this.#exit();
    }
  }

  /** Makes the client, which may take time: to start the simulator, to join a cluster, to read the device book. */
  #enter(): void {
    if (++this.#users > 1) return;
    Application.#inUse.add(this);
    if (this.#options) this.#warnOfOthers(this.#options);
    // Each message that needs the client gets the error.
    if (!this.#problem) this.#make().catch(() => undefined);
  }

  #exit(): void {
    if (--this.#users === 0) this.#stopped = Promise.allSettled([this.#stopped, this.#stop()]);
  }

  async client(api: Api): Promise<DeviceCloudClient> {
    const problem = this.problem(api);
    if (problem) throw problem;
    return this.#client ?? this.#make();
  }

  /** The application by its address and its id: what is kept belongs to one. */
  get application(): string {
    if (!this.#options) return 'simulator';
    const { baseUrl, appid = '' } = this.#options;
    return `${new URL(baseUrl).origin} ${dropLeadingZeros(String(appid))}`;
  }

  current(): DeviceCloudClient | undefined {
    return this.#client;
  }

  /** What is known of its devices; undefined without a client. Starts nothing. */
  get fleet(): Fleet | undefined {
    return this.#client?.fleet;
  }

  /** Its commands that wait for their devices; undefined without a client of the open API. Starts nothing. */
  get waiting(): WaitingCommands | undefined {
    // One of the server API alone has no devices.
    return this.#client?.appid === undefined ? undefined : this.#client.waiting;
  }

  store(): Keeping {
    return this.#store;
  }

  cluster(): ClusterView | undefined {
    return this.isShared ? (this.#shared ?? NOT_JOINED) : undefined;
  }

  /** The fleet is viewed: keeps it up to date for a minute, if a node uses the application. */
  viewFleet(): void {
    const isUsed = Object.keys(this.#node.users).length > 0;
    if (this.fleet && isUsed && !this.problem('open')) this.#view.look(this.fleet);
  }

  async close(): Promise<void> {
    this.keeper.close();
    await Promise.allSettled([this.#stopped, this.#stop()]);
    // Not before: what ends with the client is written, too.
    await this.#store.close();
  }

  /** Ends everything. It may be started again. */
  async #stop(): Promise<void> {
    this.#view.close();
    Application.#inUse.delete(this);
    const making = this.#making;
    const simulated = this.#simulated;
    this.#client = this.#making = this.#shared = this.#simulated = undefined;
    const client = await making?.catch(() => undefined);
    await client?.close();
    await simulated?.leave();
  }

  /** Each has queues and kept pins of its own. */
  #warnOfOthers({ appid }: ClientOptions): void {
    const other = this.#others[0];
    // With a cluster, it is an error.
    if (!other || !appid || (this.#cluster && other.#cluster)) return;
    this.#node.warn(
      `The configuration "${other.#title}" is of the same application. The order of commands to a device, and which level ` +
        'a pin keeps, go by one configuration alone: choose one of the two in all nodes.',
    );
  }

  /** Those of the same application that are in use. */
  get #others(): Application[] {
    const { application } = this;
    return [...Application.#inUse].filter((app) => app !== this && app.application === application);
  }

  get #title(): string {
    return this.#node.name || this.#node.id;
  }

  /** Each would have a part of the devices, and its nodes no upload of the rest. @throws DeviceCloudError `NOT_CONFIGURED` */
  #checkAlone(): void {
    const other = this.#others.find(
      (each) => each.#cluster !== undefined && each.#making !== undefined,
    );
    if (this.#cluster && other)
      throw notConfigured(
        `The configuration "${other.#title}" is of the same application. With a cluster, there can be one of them: choose it in all nodes.`,
      );
  }

  #make(): Promise<DeviceCloudClient> {
    if (this.#making) return this.#making;
    const making = this.#options ? this.#connect(this.#options) : this.#withSimulator();
    this.#making = making;
    making.then(
      (client) => {
        if (this.#making !== making) return;
        this.#client = client;
        if (client.fleet.book) follow(this.#RED, this.#node, client.fleet.book);
      },
      // The next user of the client tries again.
      () => {
        if (this.#making === making) this.#making = undefined;
      },
    );
    return making;
  }

  async #withSimulator(): Promise<DeviceCloudClient> {
    const use = (this.#simulated = useSimulator(this.#simulator));
    try {
      const found = optionsOf(await use.ready);
      const options = { ...found, ...commonSettings(this.config), store: this.#store };
      return await this.#connect(options);
    } catch (error) {
      await use.leave();
      throw error;
    }
  }

  /** Alone, or with the other processes that share the devices. */
  async #open(options: ClientOptions): Promise<DeviceCloudClient> {
    if (!this.#cluster) return new DeviceCloudClient(options);
    const { ClusterClient } = await import('../../src/cluster-client.js');
    const store = this.#store as SharedStore;
    const sharing = { store, decoderOf, waiting: this.keeper.shared };
    this.#shared = await ClusterClient.join(options, this.#cluster, sharing);
    return this.#shared;
  }

  /** Makes the client, and waits for the device book. @throws DeviceCloudError `NOT_CONFIGURED` */
  async #connect(options: ClientOptions): Promise<DeviceCloudClient> {
    // Not for good: the other one may go with a deploy.
    this.#checkAlone();
    try {
      const book = this.#book;
      const client = await this.#open({ ...options, ...(book !== undefined && { book }) });
      // Names and types belong to the first upload, too.
      await client.fleet.book?.ready;
      if (book !== undefined) judge(client, this.#store, this.#node, this.charset);
      return client;
    } catch (error) {
      if (isDeviceCloudError(error, 'NOT_CONFIGURED')) {
        this.#problem = error;
        for (const report of this.#reports.values()) report(error);
      }
      throw error;
    }
  }
}
