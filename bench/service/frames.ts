import { eventTemplate, putCount } from './readings';

// RFC 6455, section 5.2.
const FINAL = 0x80;
const TEXT = 0x1;
const PING = 0x9;
const SHORT = 125;

function header(opcode: number, length: number): Buffer {
  if (length <= SHORT) return Buffer.from([FINAL | opcode, length]);
  const bytes = Buffer.from([FINAL | opcode, 126, 0, 0]);
  bytes.writeUInt16BE(length, 2);
  return bytes;
}

/** A frame from the service to the application. */
export const frame = (opcode: number, payload: Buffer): Buffer =>
  Buffer.concat([header(opcode, payload.length), payload]);

/** Uploads in one block; a ping follows them, whose pong tells that they have been read. */
export const BLOCK = 16;

/** The frames of a block of uploads, prepared but for their counts. */
export interface Blocks {
  /** The block whose first upload has that count. */
  from(count: number): Buffer;
}

export function prepareBlocks(device: number): Blocks {
  const { event, countAt } = eventTemplate(device);
  const one = frame(TEXT, event);
  const at = one.length - event.length + countAt;
  const template = Buffer.concat([
    ...Array.from({ length: BLOCK }, () => one),
    frame(PING, Buffer.alloc(0)),
  ]);
  return {
    from(count) {
      // A copy, since the last one may not have gone out yet.
      const block = Buffer.from(template);
      for (let index = 0; index < BLOCK; index++) {
        putCount(block, index * one.length + at, count + index);
      }
      return block;
    },
  };
}
