import type { Node, NodeAPI, NodeMessage, NodeStatus } from 'node-red';
import {
  type DeviceCloudClient,
  type FleetEvent,
  invalidInput,
  isDeviceCloudError,
  type Watch,
  type WatchKeeping,
  type WatchListener,
  type WatchOptions,
} from '../../src/index';
import { findApp, type App } from '../common/app';
import { addRow, groupFollower } from '../common/inputs';
import { messageOf } from '../common/errors';
import { FaultLog, UnusableRecords } from '../common/fault-log';
import type { Runtime } from '../common/action';
import { numberOf, readDevices, readProperties } from '../common/settings';
import { clusterStatus, failureStatus, STATUS, StatusLine } from '../common/status';
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

/** Milliseconds until a node that could not start tries again. */
const RETRY = 10_000;

/** How many of its devices are online, `34/100`. */
function countsStatus({ devices, online }: ReturnType<Watch['counts']>): NodeStatus {
  if (devices === 0) return STATUS.noDevices;
  const text = `${online}/${devices}`;
  return online > 0 ? { ...STATUS.connected, text } : { fill: 'grey', shape: 'ring', text };
}

class EventsLife implements WatchListener {
  readonly #app: App;
  readonly #status: StatusLine;
  readonly #log = new FaultLog((line) => this.#node.warn(line));
  readonly #unusable = new UnusableRecords(this.#log);
  #watch: Watch | undefined;
  #client: DeviceCloudClient | undefined;
  #leaveGroup: (() => void) | undefined;
  readonly #closing = new AbortController();
  #isRead = false;
  #retry: NodeJS.Timeout | undefined;
  readonly #node: Node;
  readonly #config: EventsConfig;
  readonly #wrong: string | undefined;

  constructor(RED: NodeAPI, node: Node, def: EventsConfig) {
    const { config, problem } = readProperties<EventsConfig>(def, DEFAULTS, CHOICES);
    this.#node = node;
    this.#config = config;
    this.#wrong = problem;
    this.#app = findApp(RED, config.app);
    this.#status = new StatusLine(node);
    this.#app.join(node);
    void this.#start();
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#retry);
    this.#status.close();
    this.#leaveGroup?.();
    this.#watch?.close();
    this.#log.close();
    this.#app.leave(this.#node);
  }

  onEvent(event: FleetEvent): void {
    this.#node.send(eventMessage(event, this.#client));
  }

  onState(): void {
    this.#showCounts();
  }

  onReading(invalid: number): void {
    this.#unusable.read(invalid);
    this.#isRead = true;
    this.#showCounts();
  }

  onReadError(error: unknown): void {
    this.#isRead = false;
    this.#failed(error);
  }

  /** Never rejects. */
  async #start(): Promise<void> {
    try {
      if (this.#wrong !== undefined) throw invalidInput(this.#wrong);
      const client = await this.#app.client('open');
      this.#status.show(STATUS.connecting);
      const store = this.#app.store();
      await store.loaded;
      if (this.#closing.signal.aborted) return;
      const show = (): void => this.#showCounts();
      store.onProblem.add(show);
      this.#closing.signal.addEventListener('abort', () => store.onProblem.delete(show));
      const options = watchOptions(this.#config, (error) => this.#node.error(error));
      const keeping: WatchKeeping = {
        store,
        node: this.#node.id,
        // In a cluster, the process that has the device emits its events.
        owns: (chipid) => this.#app.cluster()?.owns(chipid) ?? true,
      };
      this.#client = client;
      if (this.#config.devices === 'group') this.#followGroup(client, options, keeping);
      else this.#watch = client.fleet.watch(options, this, keeping);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#failed(error);
      // What the configuration is not to blame for, such as a simulator that could not start, may pass.
      if (!this.#app.problem('open') && !isDeviceCloudError(error, 'INVALID_INPUT'))
        this.#retry = setTimeout(() => void this.#start(), RETRY);
    }
  }

  /** Watches the devices that are in the group by now. What is known of those that stay in it is kept. */
  #followGroup(client: DeviceCloudClient, options: WatchOptions, keeping: WatchKeeping): void {
    const group = groupFollower(client, this.#config.group);
    let watched = group.chipids();
    this.#watch = client.fleet.watch({ ...options, chipids: [...watched] }, this, keeping);
    this.#leaveGroup = group.onChange(() => {
      const now = group.chipids();
      if (now.size === watched.size && [...now].every((chipid) => watched.has(chipid))) return;
      watched = now;
      this.#watch?.follow(now);
      this.#showCounts();
    });
  }

  #showCounts(): void {
    const watch = this.#watch;
    const awaits = clusterStatus(this.#app.cluster());
    if (awaits) this.#status.update(() => awaits);
    if (awaits || !watch || !this.#isRead) return;
    // With `current`, each start begins anew.
    const isKept = this.#config.start === 'current' || !this.#app.store().problem;
    this.#status.update(() => (isKept ? countsStatus(watch.counts()) : STATUS.notKept));
  }

  #failed(error: unknown): void {
    const message = messageOf(error);
    this.#log.write(message, message);
    this.#status.update(() => failureStatus(error));
  }
}

/** Emits changes of state: who comes and goes, which channels break, what was recovered. */
export const runtime: Runtime<EventsConfig> = (RED) => (node, def) => {
  const life = new EventsLife(RED, node, def);
  node.on('close', () => life.close());
};
