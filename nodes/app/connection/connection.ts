import type { DeviceCloudClient, DeviceCloudError } from '../../../src/index';
import type { Api } from '../../common/app';

/** The client of a config node, made when it is first needed. */
export interface Connection {
  problem(api: Api): DeviceCloudError | undefined;
  /** Starts what takes time: the simulator, if that is the service, and joining a cluster. */
  start(): void;
  client(api: Api): DeviceCloudClient | Promise<DeviceCloudClient>;
  /** The client, if there is one: makes and starts none. */
  current(): DeviceCloudClient | undefined;
  /** Ends everything. It may be started again. */
  stop(): Promise<void>;
}
