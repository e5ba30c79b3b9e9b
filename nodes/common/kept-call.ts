import type { NodeMessage } from 'node-red';
import { decode, encode, parseJson } from '../../src/index';
import type { Plan } from './action';
import { isObject } from './shared.config';

/** Characters of a message that are kept, as JSON. A property that does not fit any more is left out. */
const MAX_MESSAGE = 64 * 1024;

/** Whether JSON says all of a value: an object of a class says it itself, if at all. A message may be of another context. */
function isData(value: unknown): boolean {
  if (!isObject(value) || 'toJSON' in value) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/**
 * How many characters JSON has for a value at least: a large one is not even written, since an array of many holes or the
 * bytes of a Buffer, anywhere in it, would take seconds.
 * @returns more than `room` as soon as that is certain
 */
function sizeOf(value: unknown, room: number): number {
  if (typeof value === 'string' || Buffer.isBuffer(value)) return value.length;
  if (typeof value !== 'object' || value === null) return 1;
  let size = Array.isArray(value) ? value.length : 1;
  for (const name in value) {
    if (size > room) break;
    size += sizeOf((value as Record<string, unknown>)[name], room - size);
  }
  return size;
}

/**
 * The properties of a message that JSON and Buffers can hold, as JSON can hold them. What is left out: what JSON leaves
 * out, a property that is nested in itself or deeper than 100 levels, an object of a class such as a request, and a property
 * with which the message takes more than 64 KiB.
 */
export function encodeMessage(msg: NodeMessage): Record<string, unknown> {
  let left = MAX_MESSAGE;
  const kept = Object.entries(msg).flatMap(([name, value]) => {
    try {
      const text = isData(value) && sizeOf(value, left) <= left ? encode(value) : undefined;
      const size = name.length + (text?.length ?? 0);
      if (text === undefined || size > left) return [];
      const entry = [name, parseJson(text)] as const;
      left -= size;
      return [entry];
    } catch {
      // Whatever is wrong with it, the others are kept.
      return [];
    }
  });
  return Object.fromEntries(kept);
}

/** Reads what {@link encodeMessage} has made. */
export const decodeMessage = (kept: Readonly<Record<string, unknown>>): NodeMessage =>
  decode(JSON.stringify(kept)) as NodeMessage;

/** What is kept of a command that waits, beside its device. */
export interface KeptCall {
  plan: Pick<Plan, 'call' | 'args' | 'options'>;
  isMany: boolean;
  msg: Record<string, unknown>;
}

/** Whether something is what was kept: a file may have been edited, and another process may have another version. */
export function isKept(saved: unknown): boolean {
  const { plan, msg } = isObject(saved) ? saved : {};
  const { call, args } = isObject(plan) ? plan : {};
  return typeof call === 'string' && Array.isArray(args) && isObject(msg);
}

/** Reads the call of what was kept. */
export function callOf(saved: unknown): {
  name: string;
  args: readonly unknown[];
  options: object;
} {
  const { call, args, options = {} } = (saved as KeptCall).plan;
  return { name: call, args, options };
}
