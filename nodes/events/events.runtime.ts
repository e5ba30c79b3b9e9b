import type { Node, NodeAPI, NodeStatus } from 'node-red';
import type { FleetEvent, FleetWatch, WatchListener } from '../../src/index';
import { findApp, type App } from '../common/app';
import { messageOf } from '../common/errors';
import { createFaultLog } from '../common/fault-log';
import type { Runtime } from '../common/register-node';
import { UnusableRecords } from '../common/unusable-records';
import { failureStatus, STATUS, StatusLine } from '../common/status';
import type { EventsConfig } from './events.config';
import { eventMessage } from './message';
import { SavedState } from './saved-state';
import { watchOptions } from './watch-options';

/** Milliseconds until a node that could not start tries again. */
const RETRY = 10_000;

/** How many of its devices are online, `34/100`. */
function countsStatus({ devices, online }: ReturnType<FleetWatch['counts']>): NodeStatus {
  if (devices === 0) return STATUS.noDevices;
  const text = `${online}/${devices}`;
  return online > 0 ? { ...STATUS.connected, text } : { fill: 'grey', shape: 'ring', text };
}

/** The life of an events node: it starts once its application does, and watches until it closes. */
class EventsLife implements WatchListener {
  readonly #app: App;
  readonly #status: StatusLine;
  readonly #log = createFaultLog((line) => this.node.warn(line));
  readonly #unusable = new UnusableRecords(this.#log);
  readonly #saved: SavedState;
  #watch: FleetWatch | undefined;
  /** Whether the list was read the last time. */
  #isRead = false;
  /** The state to keep, once the watch has ended. */
  #lastState: object | undefined;
  #closed = false;
  #retry: NodeJS.Timeout | undefined;

  constructor(
    RED: NodeAPI,
    private readonly node: Node,
    private readonly config: Partial<EventsConfig>,
  ) {
    this.#app = findApp(RED, config.app ?? '');
    this.#status = new StatusLine(node);
    const snapshot = (): object => this.#lastState ?? this.#watch?.state() ?? {};
    this.#saved = new SavedState(node, snapshot, (error) =>
      this.node.warn(`The state cannot be kept: ${messageOf(error)}`),
    );
    this.#app.join(node);
    void this.#start();
  }

  /** Resolves once the state is saved. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    this.#status.close();
    this.#lastState = this.#watch?.state();
    this.#watch?.close();
    this.#log.close();
    this.#app.leave(this.node);
    await this.#saved.close();
  }

  onEvent(event: FleetEvent): void {
    this.node.send(eventMessage(event));
  }

  onState(): void {
    this.#saved.changed();
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
      const client = await this.#app.client('open');
      const state = await this.#saved.read();
      if (this.#closed) return;
      this.#status.show(STATUS.connecting);
      const options = watchOptions(this.config, (error) => this.node.error(error));
      this.#watch = client.fleet.watch({ ...options, state }, this);
    } catch (error) {
      if (this.#closed) return;
      this.#failed(error);
      // What the configuration is not to blame for, such as a simulator that could not start, may pass.
      if (!this.#app.problem('open')) this.#retry = setTimeout(() => void this.#start(), RETRY);
    }
  }

  #showCounts(): void {
    const watch = this.#watch;
    if (watch && this.#isRead) this.#status.update(() => countsStatus(watch.counts()));
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
  node.on('close', (_removed: boolean, done: () => void) => {
    life.close().then(done, done);
  });
};
