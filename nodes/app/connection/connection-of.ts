import type { Node, NodeAPI } from 'node-red';
import type { DeviceCloudError } from '../../../src/index';
import type { AppConfig, AppCredentials } from '../app.config';
import { CloudConnection } from './cloud-connection';
import type { Connection } from './connection';
import { SharedDevices } from './shared-devices';
import type { SharedSimulator } from './shared-simulator';
import { SimulatorConnection } from './simulator-connection';

/**
 * Makes the connection of a config node to the service that it names.
 * @param onProblem is called if a problem is found only later
 */
export function connectionOf(
  RED: NodeAPI,
  node: Node<AppCredentials>,
  config: AppConfig,
  simulator: SharedSimulator,
  onProblem: (problem: DeviceCloudError) => void,
): Connection {
  const shared = new SharedDevices(RED, config.cluster, onProblem);
  return config.service === 'simulator'
    ? new SimulatorConnection(config, shared, simulator, (text) => node.log(text))
    : new CloudConnection(RED, node, config, shared);
}
