import type { Upload } from '../channel/frames';

/** What an upload or a record takes in memory besides its body, roughly, in bytes. */
const OVERHEAD = 256;

/** Bytes that an upload takes in memory. */
export const weighUpload = ({ body }: Upload): number => body.length + OVERHEAD;

/** What an item takes that is not an object, and cannot be used. */
const PRIMITIVE = 16;

/** Bytes that an answer takes in memory, roughly. */
export function weighAnswer(answer: readonly unknown[]): number {
  let weight = 0;
  for (const item of answer) {
    if (typeof item !== 'object' || item === null) {
      weight += PRIMITIVE;
      continue;
    }
    const { body } = item as { body?: unknown };
    weight += OVERHEAD + (typeof body === 'string' ? body.length : 0);
  }
  return weight;
}
