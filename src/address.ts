import { DeviceCloudError } from './errors';

/** Where the service is: `https://host[:port]` for HTTP, `wss://host[:port]` for the channel. */
export interface Address {
  origin: string;
  channelOrigin: string;
}

const refuse = (what: string): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    `${what} Give scheme, host and port alone, for example https://cloud.example.com:8443.`,
  );

/**
 * Reads the address of the service: scheme, host and port. A trailing `/` is fine.
 * What was typed is not repeated in the error when it may hold a password.
 * @throws DeviceCloudError `NOT_CONFIGURED` that says which part is wrong
 */
export function parseBaseUrl(text: unknown): Address {
  // A program that is not in TypeScript may leave it out.
  if (text === undefined || text === null) throw refuse('The address of the service is missing.');
  if (typeof text !== 'string') throw refuse('The address of the service is not text.');
  if (text.trim() === '') throw refuse('The address of the service is missing.');
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    throw refuse('The address of the service is not a URL.');
  }
  const { protocol, host } = url;
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw refuse(`The address of the service must begin with https:// or http://.`);
  }
  if (url.username !== '' || url.password !== '') {
    throw refuse('The address of the service must have no user name or password.');
  }
  if (url.search !== '' || url.hash !== '' || /[?#]/.test(text)) {
    throw refuse('The address of the service must have no query and no fragment.');
  }
  if (url.pathname !== '/') throw refuse('The address of the service must have no path.');
  return {
    origin: `${protocol}//${host}`,
    channelOrigin: `${protocol === 'https:' ? 'wss:' : 'ws:'}//${host}`,
  };
}
