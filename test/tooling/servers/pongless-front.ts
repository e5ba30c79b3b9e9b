import { connect, createServer, type Socket } from 'node:net';
import { atEnd } from './at-end';
import { onLoopback } from './loopback';

const END_OF_HEAD = '\r\n\r\n';
const PONG = 0x0a;

/** The length of the frame at the beginning of the bytes, undefined if not all of it is there. */
function frameLength(bytes: Buffer): number | undefined {
  if (bytes.length < 2) return undefined;
  const short = bytes[1]! & 0x7f;
  const head = short === 126 ? 4 : short === 127 ? 10 : 2;
  if (bytes.length < head) return undefined;
  const body =
    head === 2 ? short : head === 4 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return bytes.length < head + body ? undefined : head + body;
}

/** Passes on what a service sends on a channel, but for its pongs. */
function withoutPongs(from: Socket, to: Socket): void {
  let upgraded = false;
  let rest = Buffer.alloc(0);
  from.on('data', (data: Buffer) => {
    rest = Buffer.concat([rest, data]);
    if (!upgraded) {
      const end = rest.indexOf(END_OF_HEAD);
      if (end < 0) return;
      upgraded = true;
      to.write(rest.subarray(0, end + END_OF_HEAD.length));
      rest = rest.subarray(end + END_OF_HEAD.length);
    }
    for (let length = frameLength(rest); length !== undefined; length = frameLength(rest)) {
      const frame = rest.subarray(0, length);
      if ((frame[0]! & 0x0f) !== PONG) to.write(frame);
      rest = rest.subarray(length);
    }
  });
}

/** Stands before a service, on loopback: as it is, but for pings, which are not answered. */
export async function ponglessFront(port: number): Promise<{ baseUrl: string }> {
  const server = createServer((client) => {
    const service = connect(port, '127.0.0.1');
    for (const [socket, other] of [
      [client, service],
      [service, client],
    ] as const) {
      socket.on('error', () => undefined);
      socket.on('close', () => other.destroy());
    }
    client.once('data', (head: Buffer) => {
      service.write(head);
      client.pipe(service);
      if (/^GET \/noticed/.test(head.toString('latin1'))) withoutPongs(service, client);
      else service.pipe(client);
    });
  });
  const loopback = await onLoopback(server);
  atEnd(loopback.close);
  return { baseUrl: `http://127.0.0.1:${loopback.port}` };
}
