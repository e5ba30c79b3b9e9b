/** A frame from the application to the service. */
export interface ClientFrame {
  opcode: number;
  payload: Buffer;
}

const MASK = 4;

/** Reads the frames of an application: short ones, for it sends no other here. */
export function frameReader(onFrame: (frame: ClientFrame) => void): (chunk: Buffer) => void {
  let pending: Buffer = Buffer.alloc(0);

  return (chunk) => {
    let bytes = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    while (bytes.length >= 2) {
      const opcode = bytes.readUInt8(0) & 0x0f;
      const length = bytes.readUInt8(1) & 0x7f;
      if (length > 125) throw new Error('A frame of the contender is longer than expected.');
      const end = 2 + MASK + length;
      if (bytes.length < end) break;
      const mask = bytes.subarray(2, 2 + MASK);
      const payload = bytes.subarray(2 + MASK, end);
      onFrame({
        opcode,
        payload: Buffer.from(payload.map((byte, i) => byte ^ (mask[i % MASK] ?? 0))),
      });
      bytes = bytes.subarray(end);
    }
    pending = bytes;
  };
}
