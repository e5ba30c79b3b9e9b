import type { Node, NodeAPI } from 'node-red';
import {
  DeviceCloudClient,
  DeviceCloudError,
  isDeviceCloudError,
  type Book,
  type BookProblem,
  type Charset,
  type ClientOptions,
  type ClusterClient,
  type ClusterSettings,
  type SharedStore,
  type DeviceLimits,
  type Keeping,
  type SharedWaiting,
} from '../../src/index';
import { dropLeadingZeros, notConfigured } from '../../src/input';
import type { Api } from '../common/app';
import { decoderOf, typeCalled } from '../common/device-types';
import { messageOf } from '../common/errors';
import { BOOK_TOPIC, isObject } from '../common/shared.config';
import { decodeBody } from '../common/upload-message';
import type { AppConfig, AppCredentials } from './app.config';
import {
  bookOf,
  clusterOf,
  clientOptions,
  dialectOf,
  interfacesOf,
  commonSettings,
  type ReadOptions,
} from './options';
import { optionsOf, useSimulator, type SharedSimulator } from './simulator';

const API_NEEDS: Readonly<Record<Api, string>> = {
  open: 'The open API needs the appid and the app key.',
  server: 'The server API needs its key and its password.',
};

const asProblem = (error: unknown): DeviceCloudError =>
  error instanceof DeviceCloudError ? error : notConfigured(messageOf(error));

/** Distinguishes applications: what is kept belongs to one. */
const applicationOf = ({ baseUrl, appid = '' }: ClientOptions): string =>
  `${new URL(baseUrl).origin} ${dropLeadingZeros(String(appid))}`;

/** What is in use, by the application. */
const inUse = new Map<string, Set<Connection>>();

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
    const name = fleet.book?.typeOf(chipid);
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

/** A client that could not be made at once, and what ends all that was begun for it. */
interface Made {
  readonly client: DeviceCloudClient;
  readonly close: () => Promise<void>;
}

interface ConnectionDeps {
  RED: NodeAPI;
  node: Node<AppCredentials>;
  config: AppConfig;
  /** What is wrong with a property. */
  problem: string | undefined;
  simulator: SharedSimulator;
  store: Keeping;
  waiting: SharedWaiting;
  /** Called if making the client shows that the settings are wrong. */
  onProblem: (problem: DeviceCloudError) => void;
}

/**
 * The client of a config node, made when it is first needed: for a service, or with the simulator inside this process. The
 * settings of a service are checked at once.
 */
export class Connection {
  #client: DeviceCloudClient | undefined;
  /** With the simulator or a device book: the client once they are ready. */
  #making: Promise<Made> | undefined;
  /** Of a service. */
  #options: ClientOptions | undefined;
  #wrong: DeviceCloudError | undefined;
  /** What making the client has shown to be wrong. */
  #lateProblem: DeviceCloudError | undefined;
  #unset: ReadOptions['unset'] = {};
  #has: Readonly<Record<Api, boolean>> = { open: true, server: true };
  #book: string | undefined;
  readonly #deps: ConnectionDeps;
  readonly #cluster: ClusterSettings | undefined;
  /** The client, if other processes share the devices. */
  #shared: ClusterClient | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
    const { RED, node, config, problem, store } = deps;
    try {
      if (problem !== undefined) throw notConfigured(problem);
      this.#book = bookOf(RED, node, config);
      this.#cluster = clusterOf(RED, config);
      if (this.#isSimulated) return;
      const { credentials } = node;
      const { options: read, unset } = clientOptions(RED, node, { ...config, credentials });
      const options = { ...read, store };
      this.#unset = unset;
      // Checks them. Without a book, it is the client, too.
      const client = new DeviceCloudClient(options);
      this.#options = options;
      this.#has = interfacesOf(options);
      if (this.#isAsync) void client.close();
      else this.#client = client;
    } catch (error) {
      this.#wrong = asProblem(error);
    }
  }

  /** Why an interface cannot be used; undefined if it can. */
  problem(api: Api): DeviceCloudError | undefined {
    if (this.#wrong) return this.#wrong;
    if (!this.#has[api])
      return (
        this.#unset[api] ??
        notConfigured(
          `${API_NEEDS[api]} Open the configuration of the application and fill them in.`,
        )
      );
    return this.#lateProblem;
  }

  /** Starts what takes time: the simulator, if that is the service, and reading the device book. */
  start(): void {
    if (this.#options) this.#warnOfOthers(this.#options);
    // Each message that needs the client gets the error.
    if (!this.#wrong && this.#isAsync) this.#make().catch(() => undefined);
  }

  /** The client; a promise while it is made. @throws DeviceCloudError the problem, if there is one */
  client(api: Api): DeviceCloudClient | Promise<DeviceCloudClient> {
    const problem = this.problem(api);
    if (problem) throw problem;
    if (this.#client) return this.#client;
    if (this.#isAsync) return this.#make().then(({ client }) => client);
    if (!this.#options) throw notConfigured(API_NEEDS[api]);
    return (this.#client = new DeviceCloudClient(this.#options));
  }

  /** The application by its address and its id. */
  get application(): string {
    return this.#options ? applicationOf(this.#options) : 'simulator';
  }

  /** The same if other processes share the devices: how it is among them. */
  get shared(): ClusterClient | undefined {
    return this.#shared;
  }

  /** The client, if there is one: makes and starts none. */
  current(): DeviceCloudClient | undefined {
    return this.#client;
  }

  /** Ends everything. It may be started again. */
  async stop(): Promise<void> {
    const users = inUse.get(this.application);
    users?.delete(this);
    if (users?.size === 0) inUse.delete(this.application);
    const [client, making] = [this.#client, this.#making];
    this.#client = this.#making = this.#shared = undefined;
    if (making) await making.then((made) => made.close()).catch(() => undefined);
    else await client?.close();
  }

  /** Each has queues and kept pins of its own. */
  #warnOfOthers({ appid }: ClientOptions): void {
    const users = inUse.get(this.application) ?? new Set();
    inUse.set(this.application, users.add(this));
    const other = this.#others[0];
    // With a cluster, it is an error.
    if (!other || !appid || (this.#cluster && other.#cluster)) return;
    this.#deps.node.warn(
      `The configuration "${other.#title}" is of the same application. The order of commands to a device, and which level ` +
        'a pin keeps, go by one configuration alone: choose one of the two in all nodes.',
    );
  }

  /** Of the same application, in other config nodes. */
  get #others(): Connection[] {
    return [...(inUse.get(this.application) ?? [])].filter(
      (each) => each.#deps.node.id !== this.#deps.node.id,
    );
  }

  get #title(): string {
    return this.#deps.node.name || this.#deps.node.id;
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

  get #isSimulated(): boolean {
    return this.#deps.config.service === 'simulator';
  }

  get #isAsync(): boolean {
    return this.#isSimulated || this.#book !== undefined || this.#cluster !== undefined;
  }

  #make(): Promise<Made> {
    if (this.#making) return this.#making;
    const making = this.#isSimulated ? this.#withSimulator() : this.#connect(this.#options);
    this.#making = making;
    making.then(
      ({ client }) => {
        if (this.#making !== making) return;
        this.#client = client;
        if (client.fleet.book) follow(this.#deps.RED, this.#deps.node, client.fleet.book);
      },
      // The next user of the client tries again.
      () => {
        if (this.#making === making) this.#making = undefined;
      },
    );
    return making;
  }

  async #withSimulator(): Promise<Made> {
    const use = useSimulator(this.#deps.simulator);
    try {
      const { client, close } = await this.#connect({
        ...optionsOf(await use.ready),
        ...commonSettings(this.#deps.config),
        store: this.#deps.store,
      });
      return { client, close: () => close().then(() => use.leave()) };
    } catch (error) {
      await use.leave();
      throw error;
    }
  }

  /** Alone, or with the other processes that share the devices. */
  async #open(options: ClientOptions): Promise<DeviceCloudClient> {
    if (!this.#cluster) return new DeviceCloudClient(options);
    const { ClusterClient } = await import('../../src/cluster-client.js');
    const [store, waiting] = [this.#deps.store as SharedStore, this.#deps.waiting];
    this.#shared = await ClusterClient.join(options, this.#cluster, store, decoderOf, waiting);
    return this.#shared;
  }

  /** Makes the client, and waits for the device book. @throws DeviceCloudError `NOT_CONFIGURED` */
  async #connect(options: ClientOptions | undefined): Promise<Made> {
    if (!options) throw notConfigured(API_NEEDS.open);
    // Not for good: the other one may go with a deploy.
    this.#checkAlone();
    try {
      const book = this.#book;
      const client = await this.#open({ ...options, ...(book !== undefined && { book }) });
      // Names and types belong to the first upload, too.
      await client.fleet.book?.ready;
      if (book !== undefined)
        judge(client, this.#deps.store, this.#deps.node, dialectOf(this.#deps.config).charset);
      return { client, close: () => client.close() };
    } catch (error) {
      if (isDeviceCloudError(error, 'NOT_CONFIGURED')) {
        this.#lateProblem = error;
        this.#deps.onProblem(error);
      }
      throw error;
    }
  }
}
