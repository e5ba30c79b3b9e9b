import { parseChipid } from '../../src/input/chipid';
import { DeviceCloudError } from '../../src/errors';

const VARIABLE = /^\$\{([^}]+)\}$/;

/**
 * Reads a device of the list. It may have been saved as `${NAME}`, which a subflow needs: Node-RED
 * replaces it inside arrays, too, and leaves one that is not set as it is.
 * @throws DeviceCloudError `NOT_CONFIGURED` that names the variable, `INVALID_INPUT`
 */
export function listedDevice(chipid: unknown): string {
  const name = typeof chipid === 'string' ? VARIABLE.exec(chipid.trim())?.[1] : undefined;
  if (name === undefined) return parseChipid(chipid);
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
    `The environment variable ${name} is not set, so the device that it stands for is not listened to.`,
  );
}
