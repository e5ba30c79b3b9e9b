import { CALLBACK_KEYS } from '../assumptions';
import { RELAY_PIN, type Device } from '../devices/device';

type BuiltIn = (typeof CALLBACK_KEYS)[number];

const BUILT_IN: Record<BuiltIn, (device: Device, now: number, interval: number) => unknown> = {
  uptime: (device, now) => Math.max(0, Math.floor((now - device.bootedAt) / 1000)),
  rssi: (device) => -40 - (Number(device.chipid.slice(-2)) % 40),
  config: (_device, _now, interval) => ({ interval, relayPin: RELAY_PIN, firmware: '1.0.0' }),
};

/**
 * The value of the callback a device has registered under a key (section 4.2.8).
 * @returns undefined if there is no such callback
 */
export function callbackValue(
  device: Device,
  key: string,
  now: number,
  interval: number,
): { value: unknown } | undefined {
  if (device.settings.callbacks.has(key)) return { value: device.settings.callbacks.get(key) };
  const { reading } = device.sensor;
  if (Object.hasOwn(reading, key)) return { value: reading[key] };
  const builtIn = CALLBACK_KEYS.find((name) => name === key);
  return builtIn && { value: BUILT_IN[builtIn](device, now, interval) };
}
