import type { DeviceCloudClient } from '../../../src/index';
import type { AppConfig } from '../app.config';
import type { Connection } from './connection';
import { commonSettings } from './options';
import type { SharedClient, SharedDevices } from './shared-devices';
import {
  useSimulator,
  type SharedSimulator,
  type Simulator,
  type SimulatorUse,
} from './shared-simulator';

const OWN_SIMULATOR =
  'Each process has a built-in simulator of its own, so the cluster has no devices to share with others. Start one ' +
  'simulator for all processes with "npx -p @device-cloud/node-red-device-cloud device-cloud-simulator", choose the ' +
  'service "device cloud", and fill in what it prints.';

/** The package's own simulator, inside this process on a loopback port. */
export class SimulatorConnection implements Connection {
  #use: SimulatorUse | undefined;
  #client: DeviceCloudClient | undefined;
  #starting: Promise<SharedClient> | undefined;

  constructor(
    private readonly config: AppConfig,
    private readonly shared: SharedDevices,
    private readonly simulator: SharedSimulator,
    private readonly log: (text: string) => void,
  ) {}

  problem(): ReturnType<Connection['problem']> {
    return this.shared.problem;
  }

  start(): void {
    // Each message that needs the client gets the error.
    this.#start().catch(() => undefined);
  }

  client(): DeviceCloudClient | Promise<DeviceCloudClient> {
    const found = this.shared.problem;
    if (found) throw found;
    return this.#client ?? this.#start().then(({ client }) => client);
  }

  current(): DeviceCloudClient | undefined {
    return this.#client;
  }

  async stop(): Promise<void> {
    const use = this.#use;
    const starting = this.#starting;
    this.#client = this.#use = this.#starting = undefined;
    await starting?.then((made) => made.close()).catch(() => undefined);
    await use?.leave();
  }

  #start(): Promise<SharedClient> {
    if (this.#starting) return this.#starting;
    const use = useSimulator(this.simulator);
    const starting = use.ready.then((simulator) => this.#connect(simulator));
    this.#use = use;
    this.#starting = starting;
    starting.then(
      ({ client }) => {
        if (this.#starting === starting) this.#client = client;
      },
      // The next user of the client tries again.
      () => {
        if (this.#starting === starting) this.#use = this.#starting = undefined;
        return use.leave();
      },
    );
    return starting;
  }

  #connect(simulator: Simulator): Promise<SharedClient> {
    if (this.shared.isAsked) this.log(OWN_SIMULATOR);
    const { baseUrl, appid, appkey, serverKey, serverPassword } = simulator;
    return this.shared.connect({
      ...{ baseUrl, appid, appkey, serverKey, serverPassword },
      ...commonSettings(this.config),
      proxy: false,
    });
  }
}
