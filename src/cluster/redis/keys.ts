import { queueTopic } from '../store';

/** The names of all keys that a cluster uses for one application. */
export interface Keys {
  readonly state: string;
  readonly members: string;
  readonly slots: string;
  readonly positions: string;
  readonly left: (member: string) => string;
  readonly lock: (key: string) => string;
  readonly queue: (partition: number) => string;
  /** The devices that have uploads in a stream of the queue. */
  readonly devices: (partition: number) => string;
  /** The ids of a device's uploads in its stream. */
  readonly ids: (chipid: string) => string;
  /** How often the first upload of each device was claimed. */
  readonly attempts: string;
  /** Uploads of the queue that nobody has acknowledged, however often they were delivered. */
  readonly deadLetters: string;
  /** Their bytes. */
  readonly deadSize: string;
  readonly topic: (topic: string) => string;
  /** A key without content, with which the user's rights are tried. */
  readonly trial: string;
}

/**
 * All keys have the same hash tag, the part in braces: scripts need a Redis Cluster to keep them on one node.
 * @param application distinguishes the applications that share an engine
 */
export function keysOf(application: string): Keys {
  const prefix = `{device-cloud:${application.replaceAll(/[{}]/g, '_')}}:`;
  return {
    state: `${prefix}state`,
    members: `${prefix}members`,
    slots: `${prefix}slots`,
    positions: `${prefix}positions`,
    left: (member) => `${prefix}left:${member}`,
    lock: (key) => `${prefix}lock:${key}`,
    queue: (partition) => prefix + queueTopic(partition),
    devices: (partition) => `${prefix}devices:${partition}`,
    ids: (chipid) => `${prefix}ids:${chipid}`,
    attempts: `${prefix}attempts`,
    deadLetters: `${prefix}dead-letters`,
    deadSize: `${prefix}dead-size`,
    topic: (topic) => prefix + topic,
    trial: `${prefix}trial`,
  };
}
