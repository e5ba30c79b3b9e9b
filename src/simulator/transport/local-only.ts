import type { IncomingHttpHeaders } from 'node:http';
import { Refusal } from './refusal';

const OCTET = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)';
const LOOPBACK_HOST = `(?:localhost|127(?:\\.${OCTET}){3}|\\[::1\\])(?::\\d{1,5})?`;
const HOST = new RegExp(`^${LOOPBACK_HOST}$`, 'i');
const ORIGIN = new RegExp(`^https?://${LOOPBACK_HOST}$`, 'i');

/**
 * Refuses requests that a foreign web page can make a browser on this machine send. Listening on
 * loopback alone does not keep such a page out:
 * - by DNS rebinding its own name resolves to 127.0.0.1, and then the name is in `Host`;
 * - a script's POST or WebSocket goes to loopback directly, with the page's `Origin`, or `null`;
 * - an image or a link of the page sends no `Origin`, but browsers add `Sec-Fetch-Site`.
 * A page that itself comes from loopback, such as Node-RED's editor, may call.
 * @throws Refusal 403
 */
export function checkLocal(headers: IncomingHttpHeaders): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers;
  if (!HOST.test(host)) {
    throw forbidden(
      'Host must be a loopback address or localhost: the simulator is for this machine',
    );
  }
  if (origin === undefined ? site === 'cross-site' : !ORIGIN.test(origin)) {
    throw forbidden('the simulator takes no requests from web pages of other hosts');
  }
}

/** The rest of the request is not worth reading, so the connection ends with the answer. */
const forbidden = (msg: string): Refusal => new Refusal(403, msg, { connection: 'close' });
