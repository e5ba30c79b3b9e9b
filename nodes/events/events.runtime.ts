import type { NodeMessage, NodeStatus } from 'node-red';
import type {
  DeviceCloudClient,
  FleetEvent,
  Keeping,
  Watch,
  WatchKeeping,
  WatchListener,
  WatchOptions,
} from '../../src/index';
import { addRow } from '../common/device-types';
import { groupFollower } from '../common/inputs';
import type { Runtime } from '../common/action';
import { numberOf, readDevices } from '../common/settings';
import { SourceLife } from '../common/source';
import { STATUS } from '../common/status';
import { CHOICES, DEFAULTS, LIMITS, type EventsConfig, type Kind } from './events.config';

/**
 * Makes the options of a watch of the node's properties.
 * @param failed is called for each entry of the list that is no device; the others are watched all the same
 */
export function watchOptions(config: EventsConfig, failed: (error: Error) => void): WatchOptions {
  // What a node does not use may be anything.
  const asksFor = (kind: Kind): boolean => config.events.includes(kind);
  return {
    ...(config.devices === 'list' ? { chipids: readDevices(config.chipids, failed) } : {}),
    events: config.events,
    refresh: 1000 * numberOf(config, 'refresh', LIMITS.refresh),
    ...(asksFor('presence') && {
      misses: numberOf(config, 'misses', LIMITS.misses),
      silence: 1000 * numberOf(config, 'silence', LIMITS.silence),
    }),
    ...(asksFor('channel') && { settle: 1000 * numberOf(config, 'settle', LIMITS.settle) }),
    start: config.start,
  };
}

/** Makes the message of an event. One that concerns all devices has no chip number. */
function eventMessage(what: FleetEvent, client: DeviceCloudClient | undefined): NodeMessage {
  const { event, appid, chipid, ...payload } = what;
  const { name } = payload;
  const message: NodeMessage = { topic: chipid ?? appid, payload };
  if (chipid !== undefined) addRow(message, client?.fleet, chipid);
  return Object.assign(message, {
    event,
    ...(chipid === undefined ? {} : { chipid }),
    ...(name === null ? {} : { name }),
  });
}

/** How many of its devices are online, `34/100`. */
function countsStatus({ devices, online }: ReturnType<Watch['counts']>): NodeStatus {
  if (devices === 0) return STATUS.noDevices;
  const text = `${online}/${devices}`;
  return online > 0 ? { ...STATUS.connected, text } : { fill: 'grey', shape: 'ring', text };
}

class EventsLife extends SourceLife<EventsConfig> implements WatchListener {
  #watch: Watch | undefined;
  #client: DeviceCloudClient | undefined;
  #isRead = false;

  onEvent(event: FleetEvent): void {
    this.node.send(eventMessage(event, this.#client));
  }

  onState(): void {
    this.show();
  }

  onReading(invalid: number): void {
    this.onUnusable(invalid);
    this.#isRead = true;
    this.show();
  }

  onReadError(error: unknown): void {
    this.#isRead = false;
    this.failed(error);
  }

  protected begin(client: DeviceCloudClient, store: Keeping): void {
    this.status.show(STATUS.connecting);
    const { config, node } = this;
    const options = watchOptions(config, (error) => node.error(error));
    // In a cluster, the process that has the device emits its events.
    const owns = (chipid?: string): boolean => this.app.cluster()?.owns(chipid) ?? true;
    const keeping: WatchKeeping = { store, node: node.id, owns };
    this.#client = client;
    if (config.devices === 'group') this.#followGroup(client, options, keeping);
    else this.#watch = client.fleet.watch(options, this, keeping);
    this.atEnd(() => this.#watch?.close());
  }

  /** Watches the devices that are in the group by now. What is known of those that stay in it is kept. */
  #followGroup(client: DeviceCloudClient, options: WatchOptions, keeping: WatchKeeping): void {
    const group = groupFollower(client, this.config.group);
    let watched = group.chipids();
    this.#watch = client.fleet.watch({ ...options, chipids: [...watched] }, this, keeping);
    const follow = (): void => {
      const now = group.chipids();
      if (now.size === watched.size && [...now].every((chipid) => watched.has(chipid))) return;
      watched = now;
      this.#watch?.follow(now);
      this.show();
    };
    this.atEnd(group.onChange(follow));
  }

  protected statusNow(): NodeStatus | undefined {
    if (!this.#watch || !this.#isRead) return undefined;
    // With `current`, each start begins anew.
    const isKept = this.config.start === 'current' || !this.app.store().problem;
    return isKept ? countsStatus(this.#watch.counts()) : STATUS.notKept;
  }
}

/** Emits changes of state: who comes and goes, which channels break, what was recovered. */
export const runtime: Runtime<EventsConfig> = (RED) => (node, def) => {
  const life = new EventsLife(RED, node, def, DEFAULTS, CHOICES);
  void life.start();
  node.on('close', () => life.close());
};
