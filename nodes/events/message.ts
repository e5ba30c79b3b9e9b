import type { NodeMessage } from 'node-red';
import type { FleetEvent } from '../../src/index';

/** Makes the message of an event. One that concerns all devices has no chip number. */
export function eventMessage(what: FleetEvent): NodeMessage {
  const { event, appid, chipid, online, name, since, lastUpload, reason, count } = what;
  const payload = {
    ...{ online, name, since, lastUpload },
    ...(reason === undefined ? {} : { reason }),
    ...(count === undefined ? {} : { count }),
  };
  const message: NodeMessage = { topic: chipid ?? appid, payload };
  return Object.assign(message, {
    event,
    ...(chipid === undefined ? {} : { chipid }),
    ...(name === null ? {} : { name }),
  });
}
