import { STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Answers the upgrade to a channel wrongly, or not at all. @returns the status, 0 without an answer */
export type UpgradeFault = (wire: Duplex) => number;

/** Refuses an upgrade with a status and a `msg`, and ends the connection. */
export function refuseUpgrade(wire: Duplex, status: number, msg: string): number {
  // Server sockets are half-open by default: without this one would wait for the client's end.
  wire.once('finish', () => wire.destroy());
  const body = JSON.stringify({ msg });
  wire.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n` +
      'Connection: close\r\nContent-Type: application/json; charset=utf-8\r\n' +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
  return status;
}

/** Faults of the upgrade, by name. */
export const UPGRADE_FAULTS = {
  'refuse-upgrade': (wire) => refuseUpgrade(wire, 401, 'sign is wrong'),
  'answer-upgrade': (wire) => refuseUpgrade(wire, 200, 'OK'),
  'gateway-upgrade': (wire) => refuseUpgrade(wire, 502, 'the gateway failed'),
  'hang-upgrade': (wire) => {
    // Read on, or the client's leave would never be noticed.
    wire.resume().once('end', () => wire.destroy());
    return 0;
  },
  'reset-upgrade': (wire) => {
    wire.destroy();
    return 0;
  },
} satisfies Record<string, UpgradeFault>;
