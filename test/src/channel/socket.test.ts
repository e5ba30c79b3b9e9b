import assert from 'node:assert/strict';
import { connect, type NetConnectOpts, type Socket } from 'node:net';
import { Connection, type ConnectionEvents, TurnShare } from '../../../src/channel/socket';
import { TimerQueue } from '../../../src/channel/timer-queue';
import { channelService, type ChannelService } from '../../tooling/servers/channel-service';
import { atEnd } from '../../tooling/servers/at-end';
import { until } from '../../tooling/until';

/** Connects without a channel around it. @returns it, the socket below it, and what it has called */
function open(
  service: ChannelService,
  onFrame: (connection: Connection) => void = () => undefined,
) {
  let socket: Socket | undefined;
  const seen = { opened: 0, frames: 0, ends: [] as string[] };
  const events: ConnectionEvents = {
    opened: () => seen.opened++,
    frame() {
      seen.frames++;
      onFrame(connection);
    },
    ended: (reason) => void seen.ends.push(reason),
  };
  const dial = (options: NetConnectOpts): Socket => (socket = connect(options));
  // ws calls it with options alone.
  const createConnection = dial as unknown as typeof connect;
  const connection = new Connection(
    `${service.baseUrl.replace('http:', 'ws:')}/noticed/peer`,
    {
      socket: { createConnection },
      heartbeat: 0,
      ping: 0,
      random: () => 0,
      timers: new TimerQueue(),
      turns: new TurnShare(),
    },
    { areExpected: false },
    events,
  );
  atEnd(() => connection.close());
  return { connection, seen, unread: () => socket?.writableLength ?? 0 };
}

describe('a connection of a channel', () => {
  it('does not pile up pongs for a service that pings and reads nothing', async () => {
    const service = await channelService((channel) => {
      channel.pause();
      // More pongs than the system buffers for a connection whose other side does not read.
      for (let ping = 0; ping < 100_000; ping++) channel.ping(Buffer.alloc(125));
      channel.send('the end');
    });
    const { seen, unread } = open(service);
    let most = 0;
    await until(() => {
      most = Math.max(most, unread());
      return seen.frames === 1;
    });
    assert.ok(most < 128 * 1024, `${most} bytes wait to be sent`);
  });

  it('ends soon if the service does not close it after the closing handshake', async () => {
    const service = await channelService((channel) => {
      // A frame over the limit, which makes the client close; then nothing, whatever it says.
      channel.send(Buffer.alloc(16 * 1024 * 1024 + 1));
      channel.pause();
    });
    const { seen } = open(service);
    await until(() => seen.ends.length > 0, 'its end');
    assert.deepEqual(seen.ends, ['WS_ERR_UNSUPPORTED_MESSAGE_LENGTH']);
  });

  it('calls nothing after its close, even if frames had arrived before', async () => {
    const service = await channelService((channel) => {
      for (let frame = 0; frame < 100; frame++) channel.send('x');
    });
    const { seen } = open(service, (connection) => connection.close());
    await until(() => seen.frames > 0 && service.sockets() === 0);
    assert.deepEqual(seen, { opened: 1, frames: 1, ends: [] });
  });
});
