import type { Upload } from '../../types';

/** Roughly the bytes of memory that an upload or a record needs in addition to its body. */
const OVERHEAD = 256;

/** Roughly the bytes of memory that an upload needs. */
export const weighUpload = ({ body }: Upload): number => body.length + OVERHEAD;

/** The same of an item that is not an object, and so cannot be used. */
const PRIMITIVE = 16;

/** Roughly the bytes of memory that an answer needs. */
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
