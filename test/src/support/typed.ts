import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { DeviceCloudError } from '../../../src/errors';

/** Anything that a message or a property may hold. */
export const anything: fc.Arbitrary<unknown> = fc.oneof(
  fc.anything({
    withBigInt: true,
    withBoxedValues: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withObjectString: true,
    withSparseArray: true,
    withTypedArray: true,
  }),
  fc.func(fc.anything()),
  fc.constant(Symbol('x')),
  fc.double(),
  fc.maxSafeInteger(),
  fc.date({ noInvalidDate: false }),
);

/** What a reader makes of a value, or undefined if it refuses it in the one way it may. */
export function reading<T>(read: () => T): { value: T } | undefined {
  let value: T;
  try {
    value = read();
  } catch (error) {
    assert.ok(error instanceof DeviceCloudError, `not a DeviceCloudError: ${inspect(error)}`);
    assert.equal(error.code, 'INVALID_INPUT');
    assert.ok(error.message.length < 400, error.message);
    assert.doesNotMatch(error.message, /[\p{Cc}\p{Cs}\u2028\u2029]/u);
    return undefined;
  }
  return { value };
}
