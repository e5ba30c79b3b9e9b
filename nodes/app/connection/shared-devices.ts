import type { NodeAPI } from 'node-red';
import {
  DeviceCloudClient,
  DeviceCloudError,
  isDeviceCloudError,
  type ClientOptions,
} from '../../../src/index';
import { dropLeadingZeros } from '../../../src/input';
import { findCluster, noCluster } from '../../cluster/cluster-node';
import type { MembershipUse } from '../../cluster/memberships';

/** The key by which the applications of a cluster are distinguished. */
const applicationOf = ({ baseUrl, appid = '' }: ClientOptions): string =>
  `${new URL(baseUrl).origin} ${dropLeadingZeros(String(appid))}`;

const otherOptions = ({ appid = '' }: ClientOptions): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    `Another configuration of application ${appid} with the same cluster has other settings or keys. ` +
      'Choose one of the two in all nodes, or make them the same.',
  );

/** A client of an application whose devices are shared, with its part in the cluster. */
export interface SharedClient {
  readonly client: DeviceCloudClient;
  /** Closes the client, and ends its use of the membership. */
  close(): Promise<void>;
}

/** The cluster that an application names, if it names one. */
export class SharedDevices {
  #problem: DeviceCloudError | undefined;

  /**
   * @param id of the cluster node, empty for none
   * @param onProblem is called if joining shows that the settings are wrong, or that a package is missing
   */
  constructor(
    private readonly RED: NodeAPI,
    private readonly id: string | undefined,
    private readonly onProblem: (problem: DeviceCloudError) => void,
  ) {}

  /** Whether the application names a cluster. */
  get isAsked(): boolean {
    return Boolean(this.id);
  }

  /** Why the devices cannot be shared, as far as it is known. */
  get problem(): DeviceCloudError | undefined {
    if (!this.isAsked || findCluster(this.RED, this.id)) return this.#problem;
    return noCluster();
  }

  /** Joins, if there is a cluster, and makes the client. @throws DeviceCloudError `NOT_CONFIGURED` */
  async connect(options: ClientOptions): Promise<SharedClient> {
    const use = this.#share(options);
    try {
      const client = use ? await use.client(options) : new DeviceCloudClient(options);
      if (client) return { client, close: () => (use ? use.leave() : client.close()) };
    } catch (error) {
      await use?.leave();
      throw this.#noted(error);
    }
    await use?.leave();
    // Not kept as a problem: it ends when the other one changes.
    throw otherOptions(options);
  }

  #share(options: ClientOptions): MembershipUse | undefined {
    if (!this.isAsked) return undefined;
    try {
      const cluster = findCluster(this.RED, this.id);
      if (!cluster) throw noCluster();
      return cluster.share(applicationOf(options));
    } catch (error) {
      throw this.#noted(error);
    }
  }

  #noted(error: unknown): unknown {
    if (isDeviceCloudError(error, 'NOT_CONFIGURED')) {
      this.#problem = error;
      this.onProblem(error);
    }
    return error;
  }
}
