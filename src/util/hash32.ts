/** FNV-1a: a hash of a text, from 0 to 2^32 - 1. It is fast, and protects nothing. */
export function fnv1a(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  }
  return value >>> 0;
}

/**
 * A hash of a text, from 0 to 2^32 - 1: FNV-1a, with the last steps of MurmurHash3 after it. FNV alone leaves the
 * upper bits of numbers that differ in their last digit almost the same.
 */
export function hash32(text: string): number {
  let value = fnv1a(text);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
