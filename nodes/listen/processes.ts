import type { Node, NodeAPI } from 'node-red';
import { DeviceCloudError, type DeviceCloudClient, type RecoverOptions } from '../../src/index';
import { readShard, show, type Shard } from '../../src/input';
import { choiceOf } from '../common/choice';
import { substitute } from '../common/variables';
import type { ListenConfig } from './listen.config';

/** How a listener shares its devices and its uploads with other processes. */
export interface Processes {
  /** The share of the devices that it listens to; undefined for all. */
  readonly shard: Shard | undefined;
  readonly deliver: NonNullable<RecoverOptions['deliver']>;
}

const notConfigured = (message: string): DeviceCloudError =>
  new DeviceCloudError('NOT_CONFIGURED', message);

/**
 * Reads what a listener says about other processes.
 * @throws DeviceCloudError `NOT_CONFIGURED` if it does not go together with the cluster, or without one
 */
export function readProcesses(
  RED: NodeAPI,
  node: Node,
  { recover, shard, deliver: to }: Partial<ListenConfig>,
  { cluster }: DeviceCloudClient,
): Processes {
  // A flow that was written by hand may have anything there.
  const given: unknown = shard ?? '';
  const text = typeof given === 'string' ? given.trim() : show(given);
  const deliver = choiceOf(to, 'deliver', ['here', 'queue']);
  if (!cluster) {
    if (deliver === 'queue')
      throw notConfigured(
        "Uploads can go into a queue only if the application has a cluster. Choose one in the application's configuration.",
      );
    return { deliver, shard: text === '' ? undefined : readShard(substitute(RED, node, text)) };
  }
  if (recover === 'off')
    throw notConfigured(
      'Recover must not be off: the application has a cluster, which keeps the positions of its devices.',
    );
  if (text !== '')
    throw notConfigured(
      'The shard must be empty: the application has a cluster, which shares the devices.',
    );
  return { deliver, shard: undefined };
}
