import type { NodeAPI } from 'node-red';
import type { DeviceCloudClient, DeviceSnapshot } from '../../src/index';
import type { ChannelResult } from './answers.config';
import { runningApps, type AppNode } from './deployed';

type Channel = NonNullable<DeviceSnapshot['channel']>;

/** The channels that an application has open. */
function channelsOf({ fleet }: AppNode): Map<string, Channel> {
  const open = new Map<string, Channel>();
  for (const { chipid, channel } of fleet()?.snapshot() ?? [])
    if (channel) open.set(chipid, channel);
  return open;
}

/** The devices whose channels are open, of all applications: two of them may be the same one of the service. */
const usedChannels = (RED: NodeAPI): Set<string> =>
  new Set(runningApps(RED).flatMap(({ node }) => [...channelsOf(node).keys()]));

/** Opens the channel of a device, and closes it once that is decided. */
function openChannel(
  client: DeviceCloudClient,
  chipid: string,
  timeout: number,
): Promise<ChannelResult> {
  return new Promise((resolve) => {
    const end = (result: ChannelResult): void => {
      clearTimeout(timer);
      resolve(result);
      subscription.release();
    };
    // Its state changes later, never while it is joined.
    const subscription = client.listen(chipid, {
      onState(state, reason) {
        if (state === 'connected') end({ ok: true, chipid, open: false });
        if (state === 'disconnected') end({ ok: false, chipid, reason: reason ?? 'closed' });
      },
    });
    const timer = setTimeout(() => end({ ok: false, chipid, reason: 'TIMEOUT' }), timeout);
  });
}

/**
 * Tries the channel (section 4.3). A service may close a channel when a newer one of its device opens, so none is opened
 * for a device whose channel is in use.
 * @param deployed the running node with the same address and keys, whose channels show the same
 * @param online the chip numbers of the online devices
 */
export async function testChannel(
  RED: NodeAPI,
  client: DeviceCloudClient,
  deployed: AppNode | undefined,
  online: readonly string[],
  timeout: number,
): Promise<ChannelResult> {
  const own = Array.from(deployed ? channelsOf(deployed) : []);
  const connected = own.find(([, { state }]) => state === 'connected');
  if (connected) return { ok: true, chipid: connected[0], open: true };
  const used = usedChannels(RED);
  const free = online.find((chipid) => !used.has(chipid));
  if (free !== undefined) return openChannel(client, free, timeout);
  const down = own.find(([, { reason }]) => reason !== null);
  if (down) return { ok: false, chipid: down[0], reason: down[1].reason ?? '' };
  return { ok: null, why: online.length > 0 ? 'used' : 'offline' };
}
