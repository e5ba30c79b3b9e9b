import type { NodeMessage } from 'node-red';
import { decode, encode } from '../../src/for-nodes';

/** Characters of a message that are kept. A property that does not fit any more is left out. */
const MAX_MESSAGE = 64 * 1024;

/** The properties of a message that JSON, Buffers and dates can hold, each as text: one that is nested in itself is left out. */
export function encodeMessage(msg: NodeMessage): Record<string, string> {
  const kept: Record<string, string> = {};
  let left = MAX_MESSAGE;
  for (const [name, value] of Object.entries(msg)) {
    try {
      const text = encode(value) as string | undefined;
      if (text === undefined || name.length + text.length > left) continue;
      left -= name.length + text.length;
      kept[name] = text;
    } catch {
      // Whatever is wrong with it, the others are kept.
    }
  }
  return kept;
}

/** Reads what {@link encodeMessage} has made, or what a file has instead of it. */
export function decodeMessage(kept: Readonly<Record<string, unknown>>): NodeMessage {
  const msg: NodeMessage = {};
  for (const [name, text] of Object.entries(kept)) {
    try {
      msg[name as 'payload'] = decode(String(text));
    } catch {
      // The others are read.
    }
  }
  return msg;
}
