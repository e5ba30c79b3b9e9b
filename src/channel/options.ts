import type { createConnection } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { ClientOptions as SocketOptions } from 'ws';
import type { ChannelSettings } from './channel';
import type { AdaptiveLimiter } from '../http/adaptive-limiters';
import type { ChannelAccess, ChannelObserver } from './types';
import { TimerQueue } from './timer-queue';
import { TurnShare } from './turn-share';
import type { OpenApiIdentity } from '../api/open-api-request';
import { encodeQuery } from '../api/query';
import { type Proxy, tunnelsThrough, type Tunnels } from '../http/proxy';
import { type TlsSettings, tlsConnector } from '../http/tls';
import { signOpenApi } from '../api/signing';

/** The settings of an application that its channels need. */
export interface ChannelOptions {
  /** `wss://host[:port]` or `ws://host[:port]`. */
  channelOrigin: string;
  timestampUnit: 'ms' | 's';
  /** Seconds between two heartbeat messages; 0 is off. */
  heartbeat: number;
  /** Seconds between two pings; 0 is off. */
  ping: number;
}

/** The channel's address, signed as a `get` of the open API (section 4.3). */
function channelUrl(settings: ChannelOptions, identity: OpenApiIdentity, chipid: string): string {
  const now = identity.now();
  const timestamp = String(settings.timestampUnit === 'ms' ? now : Math.floor(now / 1000));
  const params = { appid: identity.appid, timestamp, chipid };
  const sign = signOpenApi('get', params, identity.appkey, identity.signCase);
  return `${settings.channelOrigin}/noticed/peer?${encodeQuery({ ...params, sign })}`;
}

function socketOptions(
  settings: ChannelOptions,
  identity: OpenApiIdentity,
  tls: TlsSettings | undefined,
  proxy: Proxy | undefined,
): { options: SocketOptions; tunnels?: Tunnels } {
  const headers = { 'User-Agent': identity.userAgent };
  const isSecure = settings.channelOrigin.startsWith('wss:');
  // One context for all channels: each socket would make one of its own otherwise, of some 20 KB.
  const secure = isSecure
    ? tlsConnector({ ...tls, secureContext: createSecureContext(tls) })
    : undefined;
  // Node.js takes these forms, which the types of ws do not know.
  const withConnection = (open: unknown): SocketOptions => ({
    headers,
    createConnection: open as typeof createConnection,
  });
  if (proxy) {
    const tunnels = tunnelsThrough(proxy, settings.channelOrigin, secure);
    return { options: withConnection(tunnels.open), tunnels };
  }
  return { options: secure ? withConnection(secure) : { headers } };
}

/** Everything the channels of an application need; the sockets' options are made with the first channel. */
export function channelSettings(
  settings: ChannelOptions,
  identity: OpenApiIdentity,
  tls: TlsSettings | undefined,
  proxy: Proxy | undefined,
  random: () => number,
  limiter: AdaptiveLimiter,
  observer: ChannelObserver,
  access: ((chipid: string) => ChannelAccess) | undefined,
): ChannelSettings {
  let made: ReturnType<typeof socketOptions> | undefined;
  return {
    appid: identity.appid,
    now: identity.now,
    url: (chipid) => channelUrl(settings, identity, chipid),
    get socket() {
      return (made ??= socketOptions(settings, identity, tls, proxy)).options;
    },
    close: () => made?.tunnels?.close(),
    heartbeat: settings.heartbeat,
    ping: settings.ping,
    timers: new TimerQueue(),
    turns: new TurnShare(),
    limiter,
    observer,
    access,
    random,
  };
}
