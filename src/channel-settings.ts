import type { createConnection } from 'node:net';
import { createSecureContext, type SecureContext } from 'node:tls';
import type { ClientOptions as SocketOptions } from 'ws';
import type { ChannelSettings } from './channel';
import { connectRate } from './connect-rate';
import type { TlsSettings } from './dispatcher';
import type { OpenApiIdentity } from './open-api';
import { encodeQuery } from './query';
import type { Proxy } from './proxy';
import type { Settings } from './settings';
import { signOpenApi } from './signing';
import { tunnelThrough } from './tunnel';

/** The channel's address, signed as a `get` of the open API (section 4.3). */
function channelUrl(settings: Settings, identity: OpenApiIdentity, chipid: string): string {
  const now = identity.now();
  const timestamp = String(settings.timestampUnit === 'ms' ? now : Math.floor(now / 1000));
  const params = { appid: identity.appid, timestamp, chipid };
  const sign = signOpenApi('get', params, identity.appkey);
  return `${settings.channelOrigin}/noticed/peer?${encodeQuery({ ...params, sign })}`;
}

function socketOptions(
  settings: Settings,
  identity: OpenApiIdentity,
  tls: TlsSettings | undefined,
  proxy: Proxy | undefined,
): SocketOptions {
  const headers = { 'User-Agent': identity.userAgent };
  const isSecure = settings.channelOrigin.startsWith('wss:');
  // One context for all channels: each socket would make one of its own otherwise, of some 20 KB.
  const secure: TlsSettings & { secureContext?: SecureContext } = isSecure
    ? { ...tls, secureContext: createSecureContext(tls) }
    : {};
  if (!proxy) return { headers, ...secure };
  const tunnel = tunnelThrough(proxy, settings.channelOrigin, secure);
  // Node.js takes the form with a callback, too, which the types of ws do not know.
  return { headers, createConnection: tunnel as unknown as typeof createConnection };
}

/** Everything the channels of an application need; sockets' options are made with the first channel. */
export function channelSettings(
  settings: Settings,
  identity: OpenApiIdentity,
  tls: TlsSettings | undefined,
  proxy: Proxy | undefined,
  random: () => number,
): ChannelSettings {
  let socket: SocketOptions | undefined;
  return {
    url: (chipid) => channelUrl(settings, identity, chipid),
    get socket() {
      return (socket ??= socketOptions(settings, identity, tls, proxy));
    },
    heartbeat: settings.heartbeat,
    ping: settings.ping,
    rate: connectRate,
    random,
  };
}
