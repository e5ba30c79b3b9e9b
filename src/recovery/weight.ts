import type { Upload } from '../channel/frames';

/** What an upload or a record takes in memory besides its body, roughly, in bytes. */
const OVERHEAD = 256;

/** Bytes that an upload takes in memory. */
export const weighUpload = ({ body }: Upload): number => body.length + OVERHEAD;

/** Bytes that an answer takes in memory. */
export function weighAnswer(answer: readonly unknown[]): number {
  let weight = 0;
  for (const item of answer) {
    const { body } = (item ?? {}) as { body?: unknown };
    weight += OVERHEAD + (typeof body === 'string' ? body.length : 0);
  }
  return weight;
}
