import type { Caller } from './queue';

/**
 * Runs a command to a device while no other process sends one to it.
 * @param longest the most milliseconds that the command takes
 * @throws DeviceCloudError `UNREACHABLE`: it was not sent
 */
export type CommandLock = <T>(
  chipid: string,
  longest: number,
  caller: Caller,
  command: () => Promise<T>,
) => Promise<T>;
