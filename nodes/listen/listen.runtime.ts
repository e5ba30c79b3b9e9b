import type { Node, NodeAPI, NodeMessage, NodeStatus } from 'node-red';
import {
  chipidOf,
  type DeviceCloudClient,
  DeviceCloudError,
  type Fleet,
  invalidInput,
  isDeviceCloudError,
  parseChipid,
  show,
  type WaitingUpload,
} from '../../src/index';
import { withFields } from '../common/action.runtime';
import { findApp, type App } from '../common/app';
import { addRow, groupFollower } from '../common/inputs';
import { DeviceTypes, setListening } from '../common/device-types';
import { asError, deviceText, messageOf } from '../common/errors';
import { FaultLog, UnusableRecords } from '../common/fault-log';
import type { Runtime } from '../common/action';
import { numberOf, readDevices, readProperties } from '../common/settings';
import { clusterStatus, failureStatus, StatusLine } from '../common/status';
import { uploadMessage } from '../common/upload-message';
import { channelsStatus } from './channels-status';
import { CHOICES, DEFAULTS, LIMITS, type ListenConfig } from './listen.config';
import { ListenedDevices, type DevicesListener } from './listened-devices';
import { OnlineDevices } from './online';
import { Positions } from './positions';

/** Milliseconds until a listener that could not start tries again by itself. */
const RETRY = 10_000;

/** Milliseconds between two looks at what waits for an acknowledgement. */
const LOOK = 1000;

/** How uploads are acknowledged; undefined if they are not. @throws DeviceCloudError `INVALID_INPUT` */
function acknowledgementOf(config: ListenConfig) {
  if (config.acknowledge !== 'ack') return undefined;
  if (config.recover !== 'restart')
    throw invalidInput(
      'Uploads can be acknowledged only if "Recover" is "also those missed during a restart": what is not acknowledged comes again from the history.',
    );
  const redeliver = 1000 * numberOf(config, 'redeliver', LIMITS.redeliver);
  return { redeliver, attempts: numberOf(config, 'attempts', LIMITS.attempts) };
}

const NEEDS_RECOVERY =
  'With a cluster, "Recover" must not be "off": what comes while a device goes from one process to another would be lost.';

const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'Nothing was changed, since the listener was closed.');

const notAcknowledged = (device: string): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_ACKNOWLEDGED',
    `An upload of ${device} was emitted in all its attempts and never acknowledged. It is in this message; the next one follows. Check that an ack node gets its msg.ack, or give it more time.`,
  );

class ListenLife implements DevicesListener {
  readonly #app: App;
  readonly #status: StatusLine;
  readonly #log = new FaultLog((line) => this.#node.warn(line));
  /** Shows what waits for an acknowledgement. */
  #looks: NodeJS.Timeout | undefined;
  readonly #types: DeviceTypes;
  readonly #closing = new AbortController();
  /** Undefined until it has started, as the devices are. */
  #client: DeviceCloudClient | undefined;
  #fleet: Fleet | undefined;
  #devices: ListenedDevices | undefined;
  #positions: Positions | undefined;
  #keepsPositions = false;
  /** Of a listener to every online device. */
  #online: OnlineDevices | undefined;
  #stopWatching: (() => void) | undefined;
  #leaveStore: (() => void) | undefined;
  /** The latest attempt to start, which never rejects, and why it failed. */
  #starting: Promise<void>;
  #failure: unknown;
  #retry: NodeJS.Timeout | undefined;
  readonly #node: Node;
  readonly #config: ListenConfig;
  readonly #wrong: string | undefined;

  constructor(RED: NodeAPI, node: Node, def: ListenConfig) {
    const { config, problem } = readProperties<ListenConfig>(def, DEFAULTS, CHOICES);
    this.#node = node;
    this.#config = config;
    this.#wrong = problem;
    this.#app = findApp(RED, config.app);
    this.#status = new StatusLine(node);
    this.#types = new DeviceTypes(RED, config.deviceType, (line) => node.warn(line));
    setListening(node, {
      type: this.#types.own,
      has: (chipid) => this.#devices?.has(chipid) === true,
      unclear: () => this.#devices?.unclear() ?? [],
    });
    this.#app.join(node);
    this.#starting = this.#start();
  }

  /**
   * Carries out what a message asks of a dynamic listener: `msg.action` = `subscribe`, `unsubscribe` or `list`, with `msg.chipid` a
   * number, a string or an array of them.
   * @returns the message to send on, for `list`: the chip numbers as payload
   * @throws DeviceCloudError `INVALID_INPUT`: then nothing has changed; with other processes what their calls throw
   */
  async change(msg: NodeMessage): Promise<NodeMessage | undefined> {
    await this.#restart();
    if (this.#closing.signal.aborted) throw closed();
    const devices = this.#devices;
    if (!devices) throw asError(this.#failure);
    const { action, chipid } = msg;
    if (action === 'list') {
      const shared = this.#app.cluster()?.subscribed(this.#node.id);
      const { chipids, missing } = (await shared) ?? { chipids: devices.chipids(), missing: 0 };
      return withFields(msg, ['missing'], { payload: chipids, ...(missing > 0 && { missing }) });
    }
    if (action !== 'subscribe' && action !== 'unsubscribe')
      throw invalidInput(
        `msg.action must be "subscribe", "unsubscribe" or "list", but is ${show(action)}.`,
      );
    const chipids = (Array.isArray(chipid) ? chipid : [chipid]).map(parseChipid);
    const isOn = action === 'subscribe';
    await Promise.all(chipids.map((each) => this.#setSubscribed(devices, each, isOn)));
    return undefined;
  }

  /** In all processes that share the devices, or in this one, which goes on with it after a restart. */
  #setSubscribed(devices: ListenedDevices, chipid: string, isOn: boolean): unknown {
    const { id } = this.#node;
    const cluster = this.#app.cluster();
    if (cluster) return cluster.setSubscribed(id, chipid, isOn);
    if (isOn) devices.add(chipid);
    else devices.remove(chipid);
    const store = this.#app.store();
    const key = `subscribed:${id}:${chipid}`;
    return (store.get(key) === true) === isOn ? undefined : store.set(key, isOn || undefined);
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#retry);
    this.#status.close();
    clearInterval(this.#looks);
    this.#stopWatching?.();
    this.#devices?.close();
    this.#log.close();
    this.#app.leave(this.#node);
    this.#positions?.close();
    this.#leaveStore?.();
  }

  onUpload(upload: WaitingUpload): void {
    if (!upload.replayed) this.#online?.seen(upload.chipid);
    const { chipid } = upload;
    const type = this.#types.of(this.#fleet, chipid);
    const decoding = { datatype: this.#config.datatype, charset: this.#app.charset, type };
    const name = this.#fleet?.name(chipid);
    const { message, error } = uploadMessage(upload, decoding, name);
    addRow(message, this.#fleet, chipid);
    const { ack, redelivered, isGivenUp } = upload;
    if (redelivered) message['redelivered'] = true;
    if (isGivenUp) {
      this.#node.error(notAcknowledged(deviceText(name, chipid)), message);
    } else if (error) {
      this.#node.error(error, message);
      // Another attempt would not change it.
      if (ack !== undefined) void this.#acknowledge(ack);
    } else {
      if (ack !== undefined) message['ack'] = ack;
      this.#node.send(message);
    }
  }

  /** If it fails, the upload comes again. Never rejects. */
  async #acknowledge(ack: string): Promise<void> {
    await Promise.resolve(this.#client?.acknowledged.acknowledge(ack)).catch(() => undefined);
  }

  onChange(): void {
    this.#status.update(() => this.#statusOfDevices());
  }

  onFault(chipid: string, fault: string, kind: string): void {
    // Some faults end with a full stop, some do not.
    this.#log.write(kind, `Device ${chipid}: ${fault.replace(/\.$/, '')}.`);
  }

  #statusOfDevices(): NodeStatus {
    const { problem } = this.#types;
    if (problem) return failureStatus(problem);
    const awaits = clusterStatus(this.#app.cluster());
    if (awaits) return awaits;
    const states = this.#devices?.states() ?? [];
    const isKept = !this.#keeps || this.#app.store().problem === undefined;
    return channelsStatus(states, isKept);
  }

  async #start(): Promise<void> {
    try {
      if (this.#wrong !== undefined) throw invalidInput(this.#wrong);
      const ack = acknowledgementOf(this.#config);
      if (this.#config.devices === 'online') numberOf(this.#config, 'refresh', LIMITS.refresh);
      if (this.#config.recover === 'off' && this.#app.isShared) throw invalidInput(NEEDS_RECOVERY);
      const client = await this.#app.client('open');
      await this.#app.store().loaded;
      if (!this.#closing.signal.aborted) this.#listen(client, ack);
    } catch (error) {
      if (this.#closing.signal.aborted) return;
      this.#failure = error;
      this.#failed(error);
      // What the configuration is not to blame for, such as a simulator that could not start, may pass.
      if (this.#app.problem('open') || isDeviceCloudError(error, 'INVALID_INPUT')) return;
      clearTimeout(this.#retry);
      this.#retry = setTimeout(() => void this.#restart(), RETRY);
    }
  }

  /** Waits for the attempt that is under way, and makes another if it has failed. */
  #restart(): Promise<void> {
    const isDone = (): boolean => this.#devices !== undefined || this.#closing.signal.aborted;
    this.#starting = this.#starting.then(() => (isDone() ? undefined : this.#start()));
    return this.#starting;
  }

  /** Listens to the devices that messages have subscribed to, in any process that shares them. */
  #restore(devices: ListenedDevices): void {
    const store = this.#app.store();
    const prefix = `subscribed:${this.#node.id}:`;
    const restore = (): void => {
      // The id of a node may have a colon in it, and a file may have been edited.
      const saved = store.list(prefix).map(([key]) => chipidOf(key.slice(prefix.length)));
      devices.follow(new Set(saved.filter((chipid) => chipid !== undefined)));
    };
    restore();
    store.onMoved.add(restore);
    this.#stopWatching = () => store.onMoved.delete(restore);
  }

  /** Whether it needs the store. */
  get #keeps(): boolean {
    return this.#keepsPositions || ['online', 'dynamic'].includes(this.#config.devices);
  }

  #listen(client: DeviceCloudClient, acknowledged: ReturnType<typeof acknowledgementOf>): void {
    const { devices: mode, chipids, recover } = this.#config;
    const store = this.#app.store();
    const change = (): void => this.onChange();
    store.onProblem.add(change);
    this.#leaveStore = () => store.onProblem.delete(change);
    this.#keepsPositions = recover === 'restart' && !this.#app.isSimulated;
    if (this.#keepsPositions && !acknowledged)
      this.#positions = new Positions(store, this.#node.id);
    const { memory } = this.#app;
    const ack = acknowledged && { ...acknowledged, node: this.#node.id, memory };
    if (ack) this.#looks = setInterval(() => this.onChange(), LOOK).unref();
    const devices = new ListenedDevices(client, this, recover !== 'off', this.#positions, ack);
    this.#client = client;
    this.#fleet = client.fleet;
    this.#devices = devices;
    if (mode === 'online') {
      this.#listenToOnline(client, devices);
    } else if (mode === 'group') {
      this.#followGroup(client, devices);
    } else if (mode === 'dynamic') {
      this.#restore(devices);
    } else {
      for (const chipid of readDevices(chipids, (error) => this.#node.error(error)))
        devices.add(chipid);
    }
    this.onChange();
  }

  /** Listens to the devices that are in the group by now: those that stay in it keep their channel. */
  #followGroup(client: DeviceCloudClient, devices: ListenedDevices): void {
    const group = groupFollower(client, this.#config.group);
    const follow = (): void => devices.follow(group.chipids());
    follow();
    this.#stopWatching = group.onChange(follow);
  }

  /** Listens to each device that the list of online devices shows. All nodes of an application share its readings. */
  #listenToOnline(client: DeviceCloudClient, devices: ListenedDevices): void {
    const online = new OnlineDevices({
      store: this.#app.store(),
      node: this.#node.id,
      now: () => client.serviceTime,
      add: (chipid) => devices.add(chipid),
      remove: (chipid) => devices.remove(chipid),
      full: (max) =>
        this.#log.write('full', `More than ${max} devices are online: some are not listened to.`),
    });
    const unusable = new UnusableRecords(this.#log);
    this.#online = online;
    const { onMoved } = this.#app.store();
    const restore = (): void => online.restore();
    onMoved.add(restore);
    const leave = client.fleet.pollList(1000 * numberOf(this.#config, 'refresh', LIMITS.refresh), {
      onReading: (reading) => {
        unusable.read(reading.invalid);
        online.onReading(reading);
      },
      onReadError: (error) => this.#failed(error),
    });
    this.#stopWatching = () => {
      onMoved.delete(restore);
      leave();
    };
  }

  #failed(error: unknown): void {
    const message = messageOf(error);
    this.#log.write(message, message);
    const isIdle = !this.#devices || this.#devices.chipids().length === 0;
    if (isIdle) this.#status.show(failureStatus(error));
  }
}

/** Emits each upload of its devices live (interface C). */
export const runtime: Runtime<ListenConfig> = (RED) => (node, def) => {
  const life = new ListenLife(RED, node, def);
  if (def.devices === 'dynamic') {
    node.on('input', (msg, send, done) => {
      life
        .change(msg)
        .then((answer) => {
          if (answer) send(answer);
        })
        .then(
          () => done(),
          (error: unknown) => done(asError(error)),
        )
        // An error out of `done` itself must not end the process.
        .catch((error: unknown) => node.error(asError(error)));
    });
  }
  node.on('close', (_removed: boolean, done: () => void) => {
    life.close();
    done();
  });
};
