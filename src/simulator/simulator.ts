import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import type { SimulatedDevice, DeviceOptions } from './device';
import type { FaultName, FaultOptions } from './faults';
import type { FrameRecord, RequestRecord, UploadEntry } from './history';
import { LOOPBACK, OptionError, readDevice, readOptions } from './options';
import type { SimulatorOptions } from './options';
import { createHttpServer } from './server';
import { Service, type HistoryRewrite, type UploadOptions } from './service';

function bytesOf(body: unknown): Buffer {
  if (body instanceof Uint8Array) return Buffer.from(body);
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}

/** A running simulator: where it is, what it knows, and the handles to make things happen. */
export class Simulator {
  /** `http://127.0.0.1:<port>` */
  readonly baseUrl: string;
  /** The port it listens on. */
  readonly port: number;
  /** The application's id, for the open API and the channel. */
  readonly appid: string;
  /** The application's key. */
  readonly appkey: string;
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
  readonly #service: Service;
  readonly #server: Server;
  #closing: Promise<void> | undefined;

  private constructor(service: Service, server: Server) {
    const { port } = server.address() as AddressInfo;
    const { appid, appkey, serverKey, serverPassword } = service.settings;
    this.baseUrl = `http://${LOOPBACK}:${port}`;
    this.port = port;
    this.appid = appid;
    this.appkey = appkey;
    this.serverKey = serverKey;
    this.serverPassword = serverPassword;
    this.devices = service.devices;
    this.requests = service.requests;
    this.frames = service.frames;
    this.#service = service;
    this.#server = server;
  }

  /** See {@link startSimulator}. */
  static async start(options: SimulatorOptions, before?: Simulator): Promise<Simulator> {
    const settings = readOptions(options);
    const service = new Service(settings);
    const server = createHttpServer(service);
    try {
      for (const device of settings.devices) service.addDevice(device);
      if (before) service.goOn(before.#service);
      server.listen(settings.port, LOOPBACK);
      await once(server, 'listening');
    } catch (error) {
      service.timers.close();
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
      const problem = `${settings.port} is taken: choose another one, or 0 for any that is free`;
      throw new OptionError('port', problem);
    }
    return new Simulator(service, server);
  }

  /** One device. @throws Error if there is no such device */
  device(chipid: string | number): SimulatedDevice {
    return this.#device(chipid);
  }

  /**
   * Lets a device upload: into the history and on its channels, whether or not it is switched on.
   * @param body text, bytes, anything else as JSON; default: the device's next reading
   */
  upload(chipid: string | number, body?: unknown, options?: UploadOptions): UploadEntry {
    const device = this.#device(chipid);
    const bytes = body === undefined ? device.measure() : bytesOf(body);
    return this.#service.upload(device, bytes, options);
  }

  /** Closes the channels of one device, or all. @param code 1006 cuts the connection, without a closing handshake */
  disconnect(chipid?: string | number, code = 1001): void {
    this.#service.channels.close(chipid, code);
  }

  /** Sets how many ms one device takes to answer, or all. Calls under way are not affected. */
  delay(chipid: string | number | undefined, ms: number): void {
    const all = this.#service.devices.values();
    for (const each of chipid === undefined ? all : [this.#device(chipid)]) each.answerDelay = ms;
  }

  /** Changes the level of a pin, as somebody at the device does: no call, and not among its `sets`. */
  setPin(chipid: string | number, pin: number, level: 0 | 1): void {
    this.#device(chipid).changeLevel(pin, level);
  }

  /** A device that is off uploads nothing and answers nothing, calls under way included. @param seconds until it boots by itself */
  switchOff(chipid: string | number, seconds?: number): void {
    this.#device(chipid).switchOff(seconds);
  }

  /** Switches a device on again: it boots, with its pins low. */
  switchOn(chipid: string | number): void {
    this.#device(chipid).switchOn();
  }

  /**
   * Puts a device to sleep: it leaves the list, uploads nothing and answers nothing, calls under way
   * included. With the option `sleep` it wakes by itself, otherwise by {@link wake}.
   */
  sleep(chipid: string | number): void {
    this.#device(chipid).sleep();
  }

  /** Wakes a device that sleeps: it uploads at once. With the option `sleep` it falls asleep again by itself. */
  wake(chipid: string | number): void {
    this.#device(chipid).wake();
  }

  /**
   * Lets something go wrong.
   * @returns a function that lifts the fault
   * @throws RangeError if there is no such fault
   */
  fail(name: FaultName, options: FaultOptions = {}): () => void {
    return this.#service.faults.add(name, options);
  }

  /** Lifts all faults. Answers that hang go on hanging. */
  heal(): void {
    this.#service.faults.clear();
  }

  /**
   * Adds a device, switched on.
   * @throws OptionError if an option is invalid, or the device exists already
   */
  addDevice(options: DeviceOptions): SimulatedDevice {
    return this.#service.addDevice(readDevice(options));
  }

  /**
   * Lets every answer of `up_messages/dev/:chipid/` go through a function, which may leave out, double,
   * reorder or spoil records, or answer something else. Without one, answers are right again.
   */
  rewriteHistory(rewrite?: HistoryRewrite): void {
    this.#service.rewrite = rewrite;
  }

  /** How many channels are open, of one device or in all. */
  channels(chipid?: string | number): number {
    return this.#service.channels.count(chipid);
  }

  /** How many TCP connections are open, channels included. */
  sockets(): number {
    return this.#service.connections.size;
  }

  /** Ends every connection and timer. May be called again. */
  close(): Promise<void> {
    return (this.#closing ??= this.#end());
  }

  #device(chipid: string | number) {
    const found = this.#service.devices.get(String(chipid));
    if (!found) throw new Error(`The simulator has no device ${chipid}.`);
    return found;
  }

  async #end(): Promise<void> {
    const { timers, channels, connections } = this.#service;
    timers.close();
    const ends = [this.#server, ...connections].map((each) => once(each, 'close'));
    this.#server.close();
    channels.close(undefined, 1006);
    for (const socket of connections) socket.destroy();
    await Promise.all(ends);
  }
}

/**
 * Starts the whole service on loopback.
 * @param before one that is closed: the devices of both have its histories, names and pins
 * @throws OptionError if an option is invalid, or the port is taken
 */
export const startSimulator = (
  options: SimulatorOptions = {},
  before?: Simulator,
): Promise<Simulator> => Simulator.start(options, before);
