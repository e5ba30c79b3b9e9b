import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudClient, DeviceCloudError, type ClientOptions } from '../../../src/index';
import { messageOf } from '../../common/errors';
import type { AppConfig, AppCredentials } from '../app.config';
import type { Api } from '../../common/app';
import type { Connection } from './connection';
import { clientOptions, type ReadOptions } from './options';
import type { SharedClient, SharedDevices } from './shared-devices';

const API_NEEDS: Readonly<Record<Api, string>> = {
  open: 'The open API needs the appid and the app key.',
  server: 'The server API needs its key and its password.',
};

const asProblem = (error: unknown): DeviceCloudError =>
  error instanceof DeviceCloudError
    ? error
    : new DeviceCloudError('NOT_CONFIGURED', messageOf(error));

/** The real service: settings are checked at once, connections are made with the first call. */
export class CloudConnection implements Connection {
  #client: DeviceCloudClient | undefined;
  /** Of an application that shares its devices. */
  #joining: Promise<SharedClient> | undefined;
  readonly #options: ClientOptions | undefined;
  readonly #wrong: DeviceCloudError | undefined;
  readonly #unset: ReadOptions['unset'] = {};
  readonly #has: Record<Api, boolean> = { open: false, server: false };

  constructor(
    RED: NodeAPI,
    node: Node<AppCredentials>,
    config: AppConfig,
    private readonly shared: SharedDevices,
  ) {
    try {
      const { credentials } = node;
      const { options, unset } = clientOptions(RED, node, { ...config, credentials });
      this.#unset = unset;
      // Checks them. Without a cluster, it is the client, too.
      const client = new DeviceCloudClient(options);
      this.#options = options;
      this.#has.open = !!options.appid && !!options.appkey;
      this.#has.server = !!options.serverKey && !!options.serverPassword;
      if (this.#isShared) void client.close();
      else this.#client = client;
    } catch (error) {
      this.#wrong = asProblem(error);
    }
  }

  problem(api: Api): DeviceCloudError | undefined {
    if (this.#wrong) return this.#wrong;
    if (this.#has[api]) return this.#isShared ? this.shared.problem : undefined;
    return (
      this.#unset[api] ??
      new DeviceCloudError(
        'NOT_CONFIGURED',
        `${API_NEEDS[api]} Open the configuration of the application and fill them in.`,
      )
    );
  }

  start(): void {
    // Each message that needs the client gets the error.
    if (this.#isShared && this.#options) this.#join(this.#options).catch(() => undefined);
  }

  client(api: Api): DeviceCloudClient | Promise<DeviceCloudClient> {
    const found = this.problem(api);
    if (found) throw found;
    if (this.#client) return this.#client;
    if (!this.#options) throw new DeviceCloudError('NOT_CONFIGURED', API_NEEDS[api]);
    if (this.#isShared) return this.#join(this.#options).then(({ client }) => client);
    return (this.#client = new DeviceCloudClient(this.#options));
  }

  current(): DeviceCloudClient | undefined {
    return this.#client;
  }

  async stop(): Promise<void> {
    const client = this.#client;
    const joining = this.#joining;
    this.#client = this.#joining = undefined;
    if (joining) await joining.then((made) => made.close()).catch(() => undefined);
    else await client?.close();
  }

  /** The server API alone has no devices to share. */
  get #isShared(): boolean {
    return this.shared.isAsked && this.#has.open;
  }

  #join(options: ClientOptions): Promise<SharedClient> {
    if (this.#joining) return this.#joining;
    const joining = this.shared.connect(options);
    this.#joining = joining;
    joining.then(
      ({ client }) => {
        if (this.#joining === joining) this.#client = client;
      },
      // The next user of the client tries again.
      () => {
        if (this.#joining === joining) this.#joining = undefined;
      },
    );
    return joining;
  }
}
