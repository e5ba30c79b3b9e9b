import type {
  ChannelListener,
  ChannelSubscription,
  ChannelState,
} from '../../../src/channel/listener';
import type { DeviceCloudClient } from '../../../src/client';
import type { RecoverOptions } from '../../../src/recovery/options';
import type { SimulatorOptions } from '../../../src/simulator';
import type { Upload } from '../../../src/types';
import { simulated } from './client';
import { until } from '../../tooling/until';

export const CHIPID = '10000001';

export interface Change {
  state: ChannelState;
  reason: string | undefined;
}

/** A listener that records everything. */
export interface Listener {
  subscription: ChannelSubscription;
  uploads: Upload[];
  /** The uploaded bytes as text. */
  texts(): string[];
  changes: Change[];
  faults: string[];
  /** Waits until the channel has been in a state that many times. */
  state(state: ChannelState, times?: number): Promise<void>;
}

/** @param recover how missed uploads are recovered, if they are */
export function listen(
  client: DeviceCloudClient,
  chipid: string | number = CHIPID,
  recover?: RecoverOptions,
): Listener {
  const uploads: Upload[] = [];
  const changes: Change[] = [];
  const faults: string[] = [];
  const count = (state: ChannelState): number =>
    changes.filter((change) => change.state === state).length;
  const listener: ChannelListener = {
    onUpload: (upload) => void uploads.push(upload),
    onState: (state, reason) => void changes.push({ state, reason }),
    onFault: (fault) => void faults.push(fault),
  };
  const subscription = client.listen(chipid, listener, recover);
  return {
    subscription,
    uploads,
    texts: () => uploads.map(({ body }) => body.toString('utf8')),
    changes,
    faults,
    state: (state, times = 1) => until(() => count(state) >= times, `${state} ${times} times`),
  };
}

/** A simulator, a client of it, and a listener whose channel is open. */
export async function connected(options?: SimulatorOptions) {
  const { service, client } = await simulated(options);
  const listener = listen(client);
  await listener.state('connected');
  return { service, client, listener };
}

/** Listens and waits for the first change to a state. */
export async function nextState(client: DeviceCloudClient, state: ChannelState): Promise<Change> {
  const listener = listen(client);
  await listener.state(state);
  return listener.changes.find((change) => change.state === state)!;
}
