import { DeviceCloudError } from '../../src/index';
import { parseChipid } from '../../src/input';
import { variableName } from './values';

/**
 * Reads an entry of the list of devices. It may have been saved as `${NAME}`, which a subflow needs:
 * Node-RED replaces it inside arrays, too, and leaves it as it is if the variable is not set.
 * @throws DeviceCloudError `NOT_CONFIGURED` that names the variable, `INVALID_INPUT`
 */
export function readListEntry(entry: unknown): string {
  const name = variableName(entry);
  if (name === undefined) return parseChipid(entry);
  throw new DeviceCloudError(
    'NOT_CONFIGURED',
    `The environment variable ${name} is not set, so the device that it stands for is left out.`,
  );
}
