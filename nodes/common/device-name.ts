import type { NodeMessage } from 'node-red';
import type { DeviceCloudClient } from '../../src/index';

const CHIPID = /^[0-9]{1,20}$/;

/** The name of a device, once a list has shown it. Of what the service calls a chip number it may be none. */
export const nameOf = (client: DeviceCloudClient, chipid: string): string | undefined =>
  CHIPID.test(chipid) ? client.fleet.name(chipid) : undefined;

/** Adds the device's name to the fields of a message about it, unless the message has a name of its own. */
export function addName(
  fields: Record<string, unknown>,
  client: DeviceCloudClient,
  chipid: string,
  msg: NodeMessage,
): Record<string, unknown> {
  const name = msg['name'] === undefined ? nameOf(client, chipid) : undefined;
  if (name !== undefined) fields['name'] = name;
  return fields;
}
