import type { Node, NodeAPI, NodeMessage, NodeStatus } from 'node-red';
import {
  chipidOf,
  type DeviceCloudClient,
  DeviceCloudError,
  type Fleet,
  invalidInput,
  type Keeping,
  parseChipid,
  show,
  type WaitingUpload,
  deviceTitle,
} from '../../src/index';
import { withFields } from '../common/action.runtime';
import { groupFollower } from '../common/inputs';
import { DeviceTypes, setListening, uploadMessage } from '../common/device-types';
import { asError } from '../common/errors';
import type { Runtime } from '../common/action';
import { numberOf, readDevices } from '../common/settings';
import { SourceLife } from '../common/source';
import { failureStatus, STATUS } from '../common/status';
import { CHOICES, DEFAULTS, LIMITS, type ListenConfig } from './listen.config';
import { ListenedDevices, Positions, type DevicesListener } from './listened-devices';
import { OnlineDevices } from './online';

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

class ListenLife extends SourceLife<ListenConfig> implements DevicesListener {
  readonly #types: DeviceTypes;
  /** Undefined until it has started, as the devices are. */
  #client: DeviceCloudClient | undefined;
  #fleet: Fleet | undefined;
  #devices: ListenedDevices | undefined;
  #keepsPositions = false;
  /** Of a listener to every online device. */
  #online: OnlineDevices | undefined;

  constructor(RED: NodeAPI, node: Node, def: ListenConfig) {
    super(RED, node, def, DEFAULTS, CHOICES);
    this.#types = new DeviceTypes(RED, this.config.deviceType, (line) => node.warn(line));
    setListening(node, {
      type: this.#types.own,
      has: (chipid) => this.#devices?.has(chipid) === true,
      unclear: () => this.#devices?.unclear() ?? [],
    });
  }

  /**
   * Carries out what a message asks of a dynamic listener: `msg.action` = `subscribe`, `unsubscribe` or `list`, with `msg.chipid` a
   * number, a string or an array of them.
   * @returns the message to send on, for `list`: the chip numbers as payload
   * @throws DeviceCloudError `INVALID_INPUT`: then nothing has changed; with other processes what their calls throw
   */
  async change(msg: NodeMessage): Promise<NodeMessage | undefined> {
    await this.start();
    if (this.isClosed) throw closed();
    const devices = this.#devices;
    if (!devices) throw asError(this.failure);
    const { action, chipid } = msg;
    if (action === 'list') {
      const shared = this.app.cluster()?.subscribed(this.node.id);
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
    const { id } = this.node;
    const cluster = this.app.cluster();
    if (cluster) return cluster.setSubscribed(id, chipid, isOn);
    if (isOn) devices.add(chipid);
    else devices.remove(chipid);
    const store = this.app.store();
    const key = `subscribed:${id}:${chipid}`;
    return (store.get(key) === true) === isOn ? undefined : store.set(key, isOn || undefined);
  }

  onUpload(upload: WaitingUpload): void {
    if (!upload.replayed) this.#online?.seen(upload.chipid);
    const { chipid } = upload;
    const type = this.#types.of(this.#fleet, chipid);
    const decoding = { datatype: this.config.datatype, charset: this.app.charset, type };
    const { message, error } = uploadMessage(upload, decoding, this.#fleet);
    const { ack, redelivered, isGivenUp } = upload;
    if (redelivered) message['redelivered'] = true;
    if (isGivenUp) {
      this.node.error(
        notAcknowledged(this.#fleet?.titleOf(chipid) ?? deviceTitle(chipid)),
        message,
      );
    } else if (error) {
      this.node.error(error, message);
      // Another attempt would not change it.
      if (ack !== undefined) void this.#acknowledge(ack);
    } else {
      if (ack !== undefined) message['ack'] = ack;
      this.node.send(message);
    }
  }

  /** If it fails, the upload comes again. Never rejects. */
  async #acknowledge(ack: string): Promise<void> {
    await Promise.resolve(this.#client?.acknowledged.acknowledge(ack)).catch(() => undefined);
  }

  onChange(): void {
    this.show();
  }

  onFault(chipid: string, fault: string, kind: string): void {
    // Some faults end with a full stop, some do not.
    this.log.write(kind, `Device ${chipid}: ${fault.replace(/\.$/, '')}.`);
  }

  protected statusNow(): NodeStatus {
    const { problem } = this.#types;
    if (problem) return failureStatus(problem);
    const isKept = !this.#keeps || this.app.store().problem === undefined;
    return this.#devices?.status(isKept) ?? STATUS.noDevices;
  }

  /** Whether it needs the store. */
  get #keeps(): boolean {
    return this.#keepsPositions || ['online', 'dynamic'].includes(this.config.devices);
  }

  protected begin(client: DeviceCloudClient, store: Keeping): void {
    const { devices: mode, chipids, recover } = this.config;
    const { isShared, isSimulated, memory } = this.app;
    const { node } = this;
    const acknowledged = acknowledgementOf(this.config);
    if (recover === 'off' && isShared) throw invalidInput(NEEDS_RECOVERY);
    this.#keepsPositions = recover === 'restart' && !isSimulated;
    const positions =
      this.#keepsPositions && !acknowledged ? new Positions(store, node.id) : undefined;
    const ack = acknowledged && { ...acknowledged, node: node.id, memory };
    const devices = new ListenedDevices(client, this, recover !== 'off', positions, ack);
    // Node-RED drops what it has not passed on yet: positions end last.
    this.atEnd(() => {
      devices.close();
      positions?.close();
    });
    this.#client = client;
    this.#fleet = client.fleet;
    this.#devices = devices;
    if (mode === 'online') {
      this.#listenToOnline(client, devices, store);
    } else if (mode === 'group') {
      this.#followGroup(client, devices);
    } else if (mode === 'dynamic') {
      this.#restore(devices, store);
    } else {
      for (const chipid of readDevices(chipids, (error) => node.error(error))) devices.add(chipid);
    }
    if (!ack) return;
    const looks = setInterval(() => this.show(), LOOK).unref();
    this.atEnd(() => clearInterval(looks));
  }

  /** Listens to the devices that messages have subscribed to, in any process that shares them. */
  #restore(devices: ListenedDevices, store: Keeping): void {
    const prefix = `subscribed:${this.node.id}:`;
    const restore = (): void => {
      // The id of a node may have a colon in it, and a file may have been edited.
      const saved = store.list(prefix).map(([key]) => chipidOf(key.slice(prefix.length)));
      devices.follow(new Set(saved.filter((chipid) => chipid !== undefined)));
    };
    restore();
    store.onMoved.add(restore);
    this.atEnd(() => store.onMoved.delete(restore));
  }

  /** Listens to the devices that are in the group by now: those that stay in it keep their channel. */
  #followGroup(client: DeviceCloudClient, devices: ListenedDevices): void {
    const group = groupFollower(client, this.config.group);
    const follow = (): void => devices.follow(group.chipids());
    follow();
    this.atEnd(group.onChange(follow));
  }

  /** Listens to each device that the list of online devices shows. All nodes of an application share its readings. */
  #listenToOnline(client: DeviceCloudClient, devices: ListenedDevices, store: Keeping): void {
    const refresh = 1000 * numberOf(this.config, 'refresh', LIMITS.refresh);
    const online = new OnlineDevices({
      store,
      node: this.node.id,
      now: () => client.serviceTime,
      add: (chipid) => devices.add(chipid),
      remove: (chipid) => devices.remove(chipid),
      full: (max) =>
        this.log.write('full', `More than ${max} devices are online: some are not listened to.`),
    });
    this.#online = online;
    const restore = (): void => online.restore();
    store.onMoved.add(restore);
    this.atEnd(() => store.onMoved.delete(restore));
    const leave = client.fleet.pollList(refresh, {
      onReading: (reading) => {
        this.onUnusable(reading.invalid);
        online.onReading(reading);
      },
      onReadError: (error) => this.failed(error),
    });
    this.atEnd(leave);
  }

  /** While it listens to devices, their channels are what its status is about. */
  protected override get isIdle(): boolean {
    return !this.#devices || this.#devices.chipids().length === 0;
  }
}

/** Emits each upload of its devices live (interface C). */
export const runtime: Runtime<ListenConfig> = (RED) => (node, def) => {
  const life = new ListenLife(RED, node, def);
  void life.start();
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
