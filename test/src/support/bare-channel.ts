import { Channel, type ChannelSettings } from '../../../src/channel/channel';
import { TimerQueue } from '../../../src/channel/timer-queue';
import { TurnShare } from '../../../src/channel/socket';
import { atEnd } from '../../tooling/servers/at-end';
import { CHIPID } from './listener';

/** A channel without a client around it, and with no pings. */
export function bareChannel(
  baseUrl: string,
  settings: Pick<ChannelSettings, 'limiter' | 'random'>,
): Channel {
  const channel = new Channel(CHIPID, {
    appid: '1',
    url: () => baseUrl.replace('http:', 'ws:'),
    now: Date.now,
    socket: {},
    heartbeat: 0,
    ping: 0,
    timers: new TimerQueue(),
    turns: new TurnShare(),
    ...settings,
  });
  atEnd(() => channel.close());
  return channel;
}
