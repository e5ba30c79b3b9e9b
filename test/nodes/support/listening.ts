import { mock } from 'node:test';
import { DeviceCloudClient } from '../../../src/client';
import type { Position } from '../../../src/recovery/position';
import type { Simulator } from '../../../src/simulator';
import { cloudApp, load, node } from './flow';
import { arrivedAt } from './messages';
import { until } from '../../tooling/until';

/** The upload that every history begins with. */
export const KNOWN = 'known';

/** Milliseconds that a step with many devices may take on a machine that is busy. */
export const PATIENCE = 180_000;

/** Notes for which devices recovery has saved a position: from then on each of their uploads must be emitted. */
function watchPositions(): { saved: ReadonlySet<string>; stop: () => void } {
  const saved = new Set<string>();
  const listen = DeviceCloudClient.prototype.listen;
  const { mock: watch } = mock.method(
    DeviceCloudClient.prototype,
    'listen',
    function (this: DeviceCloudClient, ...[chipid, user, recover]: Parameters<typeof listen>) {
      const before = recover?.save?.bind(recover);
      const save = (position: Position): void => {
        saved.add(String(chipid));
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
    const all = chipids.length;
    await until(() => cloud.channels() === all, 'every channel is open', PATIENCE);
    await until(() => saved.size === all, 'every history has been read', PATIENCE);
  } finally {
    stop();
  }
}

/** Uploads what every history begins with, and waits until it is emitted. */
export async function uploadKnown(cloud: Simulator, chipids: readonly string[]): Promise<void> {
  for (const chipid of chipids) cloud.upload(chipid, KNOWN);
  await until(() => arrivedAt('out').length === chipids.length, 'all are emitted', PATIENCE);
}
