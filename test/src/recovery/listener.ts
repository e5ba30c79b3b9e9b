import {
  DeviceCloudClient,
  type Position,
  type RecoverOptions,
  type Upload,
} from '../../../src/index';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator';
import { currentDialect } from '../../tooling/dialect';
import { until } from '../../tooling/until';

export const CHIPID = '10000001';

/** What a listener with recovery has received, and a way to end it. */
export interface Listener {
  uploads: Upload[];
  faults: string[];
  /** Bodies as text. */
  bodies(): string[];
  /** Where the uploads were last known to be emitted up to. */
  position(): Position | undefined;
  release(): void;
}

/** A service and a client that reconnects quickly. */
export async function startBoth(options: SimulatorOptions = {}) {
  const simulator = await startSimulator({
    ...{ interval: 0, devices: 2, dialect: currentDialect() },
    ...options,
  });
  const client = clientOf(simulator);
  return { simulator, client };
}

/** @param random 0 takes the shortest pause of every back-off */
export const clientOf = (simulator: Simulator, random = 0.01): DeviceCloudClient =>
  new DeviceCloudClient({
    baseUrl: simulator.baseUrl,
    appid: simulator.appid,
    appkey: simulator.appkey,
    random: () => random,
    proxy: false,
    timeout: 30_000,
    ping: 300,
  });

/** Listens to the first device. @param start where an earlier listener left off */
export function listen(
  client: DeviceCloudClient,
  { start }: Pick<RecoverOptions, 'start'> = {},
): Listener {
  const uploads: Upload[] = [];
  const faults: string[] = [];
  let position = start;
  const subscription = client.listen(
    CHIPID,
    {
      onUpload: (upload) => void uploads.push(upload),
      onFault: (fault) => void faults.push(fault),
    },
    { start, save: (saved) => (position = saved) },
  );
  const bodies = (): string[] => uploads.map(({ body }) => body.toString());
  return {
    uploads,
    faults,
    bodies,
    position: () => position,
    release: () => subscription.release(),
  };
}

/** The channel is open, and the history has been read: everything uploaded from now on is recovered. */
export async function ready(simulator: Simulator, listener: Listener): Promise<void> {
  await until(() => simulator.channels(CHIPID) === 1, 'the channel is open');
  await until(() => listener.position() !== undefined, 'the history has been read');
}

/** Closes the channel and uploads in the same moment, so that the channel misses it. */
export function miss(simulator: Simulator, ...bodies: unknown[]): void {
  simulator.disconnect(CHIPID, 1006);
  for (const body of bodies) simulator.upload(CHIPID, body);
}
