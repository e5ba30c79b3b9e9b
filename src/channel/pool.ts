import type { createConnection, Socket } from 'node:net';
import { USER_AGENT, encodeQuery, signOpenApi, type OpenApiIdentity } from '../protocol/signing';
import type { Tunnels } from '../http/proxy';
import { type TlsSettings, EACH_ADDRESS, secureContextOf, tlsConnector } from '../http/tls';
import { Channel, type ChannelSettings } from './channel';
import { inSlices } from '../util/slices';
import type { ChannelListener, ChannelSubscription } from './listener';
import { TurnShare, type SocketOptions } from './socket';

/** A subscription as the parts of the application hold it, with the whole channel. */
export interface OpenSubscription extends ChannelSubscription {
  readonly channel: Channel;
}

/** The channels of one application: one per device, for any number of listeners. */
export class Channels {
  readonly #settings: ChannelSettings;
  readonly #open = new Map<string, Channel>();
  #isClosed = false;

  constructor(settings: ChannelSettings) {
    this.#settings = settings;
  }

  /**
   * Joins the channel of a device, and opens it for its first listener. Once closed, it opens no more.
   * @param listener own code, which never throws, or a user's that is isolated; one for each call
   */
  join(chipid: string, listener: ChannelListener): OpenSubscription {
    const channel = this.#channel(chipid);
    channel.join(listener);
    return new Subscription(this, chipid, channel, listener);
  }

  /** Removes a listener from a channel, and closes a channel without listeners. It may have left already. */
  leave(chipid: string, channel: Channel, listener: ChannelListener): void {
    channel.leave(listener);
    if (channel.size > 0 || this.#open.get(chipid) !== channel) return;
    this.#open.delete(chipid);
    channel.close();
  }

  /** Calls no listener from now on, and closes all channels. 10,000 that are closed at once block for 0.4 s. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const channels = [...this.#open.values()];
    this.#open.clear();
    for (const channel of channels) channel.leaveAll();
    await inSlices(channels, (channel) => channel.close());
  }

  #channel(chipid: string): Channel {
    const open = this.#open.get(chipid);
    if (open) return open;
    const channel = new Channel(chipid, this.#settings);
    // Nothing would ever close it.
    if (this.#isClosed) channel.close();
    else this.#open.set(chipid, channel);
    return channel;
  }
}

/** Hides its fields, as the channel does. */
class Subscription implements OpenSubscription {
  readonly channel: Channel;
  readonly #channels: Channels;
  readonly #chipid: string;
  readonly #listener: ChannelListener;

  constructor(channels: Channels, chipid: string, channel: Channel, listener: ChannelListener) {
    this.channel = channel;
    this.#channels = channels;
    this.#chipid = chipid;
    this.#listener = listener;
  }

  release(): void {
    this.#channels.leave(this.#chipid, this.channel, this.#listener);
  }
}

/** Milliseconds for which a channel stays open after its last use. */
const KEEP = 5 * 60_000;

interface Releasable {
  release(): void;
}

interface Kept<S> {
  subscription: S;
  timer: NodeJS.Timeout | undefined;
  users: number;
}

/**
 * Subscriptions that commands share: one per device, opened by the first command and released five
 * minutes after the last, so that a channel is not opened anew for each of them.
 */
export class KeptSubscriptions<S extends Releasable> {
  readonly #kept = new Map<string, Kept<S>>();
  #isClosed = false;

  /**
   * Uses the subscription of a device, until {@link leave}.
   * @param open joins its channel, if none is kept
   */
  use(chipid: string, open: () => S): S {
    let kept = this.#kept.get(chipid);
    if (!kept) {
      kept = { subscription: open(), timer: undefined, users: 0 };
      this.#kept.set(chipid, kept);
    }
    clearTimeout(kept.timer);
    kept.users++;
    return kept.subscription;
  }

  /** Ends a use. Called once for each; it may come after the close. */
  leave(chipid: string, subscription: S): void {
    const kept = this.#kept.get(chipid);
    if (kept?.subscription !== subscription || --kept.users > 0) return;
    const release = (): void => {
      this.#kept.delete(chipid);
      subscription.release();
    };
    if (this.#isClosed) release();
    else kept.timer = setTimeout(release, KEEP);
  }

  close(): void {
    this.#isClosed = true;
    for (const { subscription, timer } of this.#kept.values()) {
      clearTimeout(timer);
      subscription.release();
    }
    this.#kept.clear();
  }
}

/** The settings of an application that its channels need. */
export interface ChannelOptions {
  /** `wss://host[:port]` or `ws://host[:port]`. */
  channelOrigin: string;
  timestampUnit: 'ms' | 's';
  /** Milliseconds between two heartbeat messages; 0 is off. */
  heartbeat: number;
  /** Milliseconds between two pings; 0 is off. */
  ping: number;
}

/** The channel's address, signed as a `get` of the open API (section 4.3). */
function channelUrl(settings: ChannelOptions, identity: OpenApiIdentity, chipid: string): string {
  const now = identity.now();
  const timestamp = String(settings.timestampUnit === 'ms' ? now : Math.floor(now / 1000));
  const params = { appid: identity.appid, timestamp, chipid };
  const sign = signOpenApi('get', params, identity.appkey);
  return `${settings.channelOrigin}/noticed/peer?${encodeQuery({ ...params, sign })}`;
}

/** How sockets connect: as ws does, over TLS with one context for all, or through a proxy. */
function socketOptions(
  { channelOrigin }: ChannelOptions,
  tls: TlsSettings | undefined,
  tunnels: Tunnels | undefined,
): SocketOptions {
  const shared = { headers: { 'User-Agent': USER_AGENT }, ...EACH_ADDRESS };
  const isSecure = channelOrigin.startsWith('wss:');
  // Each socket would make a context of its own otherwise, of some 20 KB.
  const secure = isSecure
    ? tlsConnector({ ...tls, secureContext: secureContextOf(tls) })
    : undefined;
  // Node.js takes these forms, which the types of ws do not know.
  const withConnection = (open: unknown): SocketOptions => ({
    ...shared,
    createConnection: open as typeof createConnection,
  });
  if (!tunnels) return secure ? withConnection(secure) : shared;
  return withConnection((_: unknown, connected: (error: Error | null, socket?: Socket) => void) =>
    tunnels.open((error, socket) =>
      connected(error, socket && secure ? secure({ socket, host: tunnels.host }) : socket),
    ),
  );
}

/** What the channels of an application need of its settings. */
export const channelSettings = (
  settings: ChannelOptions,
  identity: OpenApiIdentity,
  tls: TlsSettings | undefined,
  tunnels: Tunnels | undefined,
) => ({
  appid: identity.appid,
  now: identity.now,
  url: (chipid: string) => channelUrl(settings, identity, chipid),
  socket: socketOptions(settings, tls, tunnels),
  heartbeat: settings.heartbeat,
  ping: settings.ping,
  turns: new TurnShare(),
});
