import type { AddressInfo, Server, Socket } from 'node:net';
import { PINS } from './assumptions';
import type { SimulatedDevice } from './device';
import { numberIn, oneOf, OptionError, readDevice, type DeviceOptions } from './device-options';
import { Faults, type FaultName, type FaultOptions } from './faults';
import type { UploadEntry } from './history';
import { createRequestLog, type FrameRecord, type RequestRecord } from './log';
import { LOOPBACK, readOptions, type SimulatorOptions } from './options';
import { createHttpServer } from './server';
import { Service, type CloseOptions, type HistoryRewrite, type UploadOptions } from './service';

/** A running simulator: where it is, what it knows, and the handles to make things happen. */
export interface Simulator {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
  /** The port it listens on. */
  readonly port: number;
  /** The application's id, for the open API and the channel. */
  readonly appid: string;
  /** The application's key. */
  readonly appkey: string;
  /** The application's name, which `apps/` and the histories give. */
  readonly appName: string;
  /** The product key of the server API. */
  readonly serverKey: string;
  /** The password that belongs to the product key. */
  readonly serverPassword: string;
  /** By chip number. */
  readonly devices: ReadonlyMap<string, SimulatedDevice>;
  /** The last 1000 requests, oldest first. */
  readonly requests: readonly RequestRecord[];
  /** The last 1000 text frames that came over channels, heartbeats among them. */
  readonly frames: readonly FrameRecord[];
  /** One device. @throws Error if there is no such device */
  device(chipid: string | number): SimulatedDevice;
  /**
   * Lets a device upload: into the history and on its channels, whether or not it is switched on.
   * @param body text, bytes, anything else as JSON; default: the device's next reading
   */
  upload(chipid: string | number, body?: unknown, options?: UploadOptions): UploadEntry;
  /** Closes the channels of one device, or all. */
  disconnect(chipid?: string | number, options?: CloseOptions): void;
  /** Sets how many ms one device takes to answer, or all. Calls under way are not affected. */
  delay(chipid: string | number | undefined, ms: number): void;
  /** Changes the level of a pin, as somebody at the device does: no call, and not among its `sets`. */
  setPin(chipid: string | number, pin: number, level: 0 | 1): void;
  /** A device that is off uploads nothing and answers nothing, calls under way included. */
  switchOff(chipid: string | number): void;
  /** Switches a device on again: it boots. */
  switchOn(chipid: string | number): void;
  /**
   * Lets a device lose its power: it is off, and boots with its pins low after some seconds, default 5.
   * @throws OptionError if that is no number from 0 to a day
   */
  unplug(chipid: string | number, seconds?: number): void;
  /**
   * Puts a device to sleep: it leaves the list, uploads nothing and answers nothing, calls under way
   * included. With the option `sleep` it wakes by itself, otherwise by {@link wake}.
   */
  sleep(chipid: string | number): void;
  /** Wakes a device that sleeps: it uploads at once. With the option `sleep` it falls asleep again by itself. */
  wake(chipid: string | number): void;
  /**
   * Lets something go wrong.
   * @returns a function that lifts the fault
   * @throws RangeError if there is no such fault
   * @throws OptionError if an option is invalid, or a thousand faults are set already
   */
  fail(name: FaultName, options?: FaultOptions): () => void;
  /** Lifts all faults. Answers that hang go on hanging. */
  heal(): void;
  /**
   * Adds a device, switched on.
   * @throws OptionError if an option is invalid, or the device exists already
   */
  addDevice(options: DeviceOptions): SimulatedDevice;
  /** Deletes the application (section 2.2): from now on 401, and every channel is closed. */
  deleteApp(): void;
  /**
   * Puts the uploads back to an old copy of the service: those with a higher id than `lastId` are gone,
   * and the next upload gets the id after it.
   * @param lastId default 0: the history is empty and ids begin at 1 again
   * @throws OptionError if it is not a whole number, or beyond the newest id
   */
  restore(lastId?: number): void;
  /**
   * Lets every answer of `up_messages/dev/:chipid/` go through a function, which may leave out, double,
   * reorder or spoil records, or answer something else. Without one, answers are right again.
   */
  rewriteHistory(rewrite?: HistoryRewrite): void;
  /** How many channels are open, of one device or in all. */
  channels(chipid?: string | number): number;
  /** How many TCP connections are open, channels included. */
  sockets(): number;
  /** Ends every connection and timer. May be called again. */
  close(): Promise<void>;
}

const chipidOf = (chipid: string | number | undefined): string | undefined =>
  chipid === undefined ? undefined : String(chipid);

function bytesOf(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

const portTaken = (port: number): OptionError =>
  new OptionError('port', `${port} is taken: choose another one, or 0 for any that is free`);

/**
 * Starts the whole service on loopback.
 * @throws OptionError if an option is invalid, or the port is taken
 */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const settings = readOptions(options);
  const faults = new Faults();
  const log = createRequestLog(settings.now);
  const service = new Service(settings, faults);
  const { server, connections } = createHttpServer(service, log);
  let closing: Promise<void> | undefined;

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      service.timers.close();
      reject(error.code === 'EADDRINUSE' ? portTaken(settings.port) : error);
    });
    server.listen(settings.port, LOOPBACK, resolve);
  });
  const { port } = server.address() as AddressInfo;

  const device = (chipid: string | number) => {
    const found = service.devices.get(String(chipid));
    if (!found) throw new Error(`The simulator has no device ${chipid}.`);
    return found;
  };

  const end = async (): Promise<void> => {
    service.timers.close();
    const closed = (emitter: Server | Socket) =>
      new Promise<void>((resolve) => emitter.once('close', resolve));
    const ends = [server, ...connections].map(closed);
    server.close();
    service.channels.close(undefined, { terminate: true });
    for (const socket of connections) socket.destroy();
    await Promise.all(ends);
  };

  const { appid, appkey, appName, serverKey, serverPassword } = settings;
  return {
    baseUrl: `http://${LOOPBACK}:${port}`,
    port,
    appid,
    appkey,
    appName,
    serverKey,
    serverPassword,
    devices: service.devices,
    requests: log.requests,
    frames: log.frames,
    device,
    upload: (chipid, body, how) => {
      const from = device(chipid);
      return service.upload(from, body === undefined ? from.measure() : bytesOf(body), how);
    },
    disconnect: (chipid, how = {}) => service.channels.close(chipidOf(chipid), how),
    delay(chipid, ms) {
      numberIn('delay', ms, 0, 2 ** 31 - 1);
      for (const each of chipid === undefined ? service.devices.values() : [device(chipid)]) {
        each.answerDelay = ms;
      }
    },
    setPin: (chipid, pin, level) =>
      device(chipid).changeLevel(
        numberIn('pin', pin, 0, PINS - 1, 'whole'),
        oneOf('level', level, [0, 1]),
      ),
    switchOff: (chipid) => device(chipid).switchOff(),
    switchOn: (chipid) => device(chipid).switchOn(),
    unplug: (chipid, seconds = 5) =>
      service.unplug(device(chipid), numberIn('seconds', seconds, 0, 86_400)),
    sleep: (chipid) => device(chipid).sleep(),
    wake: (chipid) => device(chipid).wake(),
    fail: (name, how = {}) => faults.add(name, how),
    heal: () => faults.clear(),
    addDevice: (added) => service.addDevice(readDevice(added)),
    deleteApp: () => service.deleteApp(),
    restore: (lastId = 0) =>
      service.restore(numberIn('lastId', lastId, 0, service.lastUpload, 'whole')),
    rewriteHistory: (rewrite) => void (service.rewrite = rewrite),
    channels: (chipid) => service.channels.count(chipidOf(chipid)),
    sockets: () => connections.size,
    close: () => (closing ??= end()),
  };
}
