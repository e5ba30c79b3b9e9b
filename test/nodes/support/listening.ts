import { mock } from 'node:test';
import { DeviceCloudClient } from '../../../src/client';
import type { Position } from '../../../src/recovery/position';
import type { Simulator } from '../../../src/simulator';
import { cloudApp, load, node } from './flow';
import { until } from '../../tooling/until';

/** Milliseconds that a step with many devices may take on a machine that is busy. */
export const PATIENCE = 180_000;

/**
 * Counts how often recovery has saved the position of each device: after a first reading once when it has been read, and once
 * more when all that was announced before has arrived. From then on each of their uploads must be emitted, and be in the history.
 */
function watchPositions(): { saved: ReadonlyMap<string, number>; stop: () => void } {
  const saved = new Map<string, number>();
  const listen = DeviceCloudClient.prototype.listen;
  const { mock: watch } = mock.method(
    DeviceCloudClient.prototype,
    'listen',
    function (this: DeviceCloudClient, ...[chipid, user, recover]: Parameters<typeof listen>) {
      const before = recover?.save?.bind(recover);
      const save = (position: Position): void => {
        saved.set(String(chipid), (saved.get(String(chipid)) ?? 0) + 1);
        before?.(position);
      };
      // Not in a copy, which would lack what the options inherit.
      if (recover) Object.defineProperty(recover, 'save', { value: save, configurable: true });
      return listen.call(this, chipid, user, recover);
    },
  );
  return { saved, stop: () => watch.restore() };
}

/** Starts a listener with recovery, and waits until each channel is open and recovers what it misses. */
export async function openWithRecovery(
  cloud: Simulator,
  chipids: readonly string[],
  app: object = {},
  ...more: Parameters<typeof load>[0]
): Promise<void> {
  const { saved, stop } = watchPositions();
  try {
    const own = more.some(({ id }) => id === 'listen');
    const listen = own ? [] : [node('listen', { chipids, recover: 'reconnect' })];
    await load([cloudApp(cloud, app), ...listen, ...more]);
    const isRead = (chipid: string): boolean => (saved.get(chipid) ?? 0) >= 2;
    await until(() => cloud.channels() === chipids.length, 'every channel is open', PATIENCE);
    await until(() => chipids.every(isRead), 'every history has been read', PATIENCE);
  } finally {
    stop();
  }
}
