import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudClient, DeviceCloudError } from '../../src/index';
import { messageOf } from '../common/errors';
import type { AppConfig, AppCredentials } from './app.config';
import type { Api } from './app-node';
import { clientOptions, commonSettings, type ReadOptions } from './options';
import { useSimulator, type Simulator, type SimulatorUse } from './shared-simulator';

/** The client of a config node, made when it is first needed. */
export interface Connection {
  problem(api: Api): DeviceCloudError | undefined;
  /** Starts what takes time: the simulator, if that is the service. */
  start(): void;
  client(api: Api): DeviceCloudClient | Promise<DeviceCloudClient>;
  /** The client, if there is one: makes and starts none. */
  current(): DeviceCloudClient | undefined;
  /** Ends everything. It may be started again. */
  stop(): Promise<void>;
}

const API_NEEDS: Readonly<Record<Api, string>> = {
  open: 'The open API needs the appid and the app key.',
  server: 'The server API needs its key and its password.',
};

const asProblem = (error: unknown): DeviceCloudError =>
  error instanceof DeviceCloudError
    ? error
    : new DeviceCloudError('NOT_CONFIGURED', messageOf(error));

/** The real service: settings are checked at once, connections are made with the first call. */
function cloudConnection(RED: NodeAPI, node: Node<AppCredentials>, config: AppConfig): Connection {
  let client: DeviceCloudClient | undefined;
  let wrong: DeviceCloudError | undefined;
  let unset: ReadOptions['unset'] = {};
  const has: Record<Api, boolean> = { open: false, server: false };
  const create = (): void => {
    try {
      const read = clientOptions(RED, node, { ...config, credentials: node.credentials });
      const { options } = read;
      unset = read.unset;
      client = new DeviceCloudClient(options);
      has.open = !!options.appid && !!options.appkey;
      has.server = !!options.serverKey && !!options.serverPassword;
    } catch (error) {
      wrong = asProblem(error);
    }
  };
  create();

  const problem = (api: Api): DeviceCloudError | undefined => {
    if (wrong) return wrong;
    if (has[api]) return undefined;
    return (
      unset[api] ??
      new DeviceCloudError(
        'NOT_CONFIGURED',
        `${API_NEEDS[api]} Open the configuration of the application and fill them in.`,
      )
    );
  };
  return {
    problem,
    start: () => undefined,
    client(api) {
      const found = problem(api);
      if (found) throw found;
      if (!client) create();
      if (client) return client;
      throw wrong ?? new DeviceCloudError('NOT_CONFIGURED', API_NEEDS[api]);
    },
    current: () => client,
    async stop() {
      const ended = client;
      client = undefined;
      await ended?.close();
    },
  };
}

/** The package's own simulator, inside this process on a loopback port. */
function simulatorConnection(config: AppConfig): Connection {
  let use: SimulatorUse | undefined;
  let client: DeviceCloudClient | undefined;
  let starting: Promise<DeviceCloudClient> | undefined;

  const connect = (simulator: Simulator): DeviceCloudClient => {
    const { baseUrl, appid, appkey, serverKey, serverPassword } = simulator;
    client = new DeviceCloudClient({
      ...{ baseUrl, appid, appkey, serverKey, serverPassword },
      ...commonSettings(config),
      proxy: false,
    });
    return client;
  };
  const start = (): Promise<DeviceCloudClient> => {
    if (starting) return starting;
    const started = useSimulator();
    const connecting = started.ready.then(connect);
    use = started;
    starting = connecting;
    // Whoever needs the client next tries again.
    connecting.catch(() => {
      if (starting === connecting) use = starting = undefined;
      return started.leave();
    });
    return connecting;
  };
  return {
    problem: () => undefined,
    start() {
      // Each message that needs the client gets the error.
      start().catch(() => undefined);
    },
    client: () => client ?? start(),
    current: () => client,
    async stop() {
      const ended = { use, starting };
      use = undefined;
      starting = undefined;
      client = undefined;
      if (ended.starting) {
        await ended.starting.then(
          (started) => started.close(),
          () => undefined,
        );
      }
      client = undefined;
      await ended.use?.leave();
    },
  };
}

/** Makes the connection of a config node to the service that it names. */
export function connectionOf(
  RED: NodeAPI,
  node: Node<AppCredentials>,
  config: AppConfig,
): Connection {
  return config.service === 'simulator'
    ? simulatorConnection(config)
    : cloudConnection(RED, node, config);
}
