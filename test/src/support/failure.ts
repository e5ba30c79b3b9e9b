import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { DeviceCloudError, type ErrorCode } from '../../../src/errors';
import { KEYS } from './client';

const SIGN = /[0-9a-f]{32}/i;

/** Checks that an error is the package's own and that no secret shows, however it is printed. */
export function checkError(error: unknown, code: ErrorCode): DeviceCloudError {
  assert.ok(error instanceof DeviceCloudError, `not a DeviceCloudError: ${inspect(error)}`);
  assert.equal(error.code, code, error.message);
  assert.equal(error.cause, undefined);
  const shown = `${inspect(error, { depth: 9, showHidden: true })}${String(error.stack)}`;
  for (const secret of [KEYS.appkey, KEYS.serverPassword, KEYS.serverKey]) {
    assert.ok(!shown.toLowerCase().includes(secret.toLowerCase()), `a secret shows in ${shown}`);
  }
  // What the caller gave may look like one, and is not a secret.
  if (code !== 'INVALID_INPUT') assert.doesNotMatch(shown, SIGN);
  return error;
}

/** The error with which a call fails. */
export async function failure(call: Promise<unknown>, code: ErrorCode): Promise<DeviceCloudError> {
  let value: unknown;
  try {
    value = await call;
  } catch (error) {
    return checkError(error, code);
  }
  return assert.fail(`it succeeded with ${inspect(value)} instead of failing with ${code}`);
}

/** The errors with which several calls fail, all of them watched from the start. */
export const failures = (
  calls: readonly Promise<unknown>[],
  code: ErrorCode,
): Promise<DeviceCloudError[]> => Promise.all(calls.map((call) => failure(call, code)));

/** The error that a function throws. */
export function thrown(run: () => unknown, code: ErrorCode): DeviceCloudError {
  let value: unknown;
  try {
    value = run();
  } catch (error) {
    return checkError(error, code);
  }
  return assert.fail(`it returned ${inspect(value)} instead of throwing ${code}`);
}
