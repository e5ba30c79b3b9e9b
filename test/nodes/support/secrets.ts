import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { DEFAULT_CREDENTIALS } from '../../../src/simulator';

/** Keys that are nowhere else, so that one of them in an error, a status or a log is a leak. */
export const CANARIES = {
  appkey: 'Canary-AppKey-4F1D',
  serverKey: 'Canary-ServerKey-7B2C',
  serverPassword: 'Canary-ServerPassword-9E0A',
} as const;

const SECRETS = [
  ...Object.values(CANARIES),
  DEFAULT_CREDENTIALS.appkey,
  DEFAULT_CREDENTIALS.serverKey,
  DEFAULT_CREDENTIALS.serverPassword,
].map((secret) => secret.toLowerCase());

/** A signature: 32 hexadecimal characters, and not a part of something longer. */
const SIGN = /(?<![0-9a-f])[0-9a-f]{32}(?![0-9a-f])/i;

const DEEP = {
  depth: 12,
  maxArrayLength: 2000,
  maxStringLength: 20_000,
  showHidden: true,
} as const;

/** Everything an error says, its own properties and those of its causes included. */
function errorText(error: Error): string {
  const own = Object.getOwnPropertyNames(error).map(
    (name) => `${name}=${inspect((error as unknown as Record<string, unknown>)[name], DEEP)}`,
  );
  return [String(error), ...own].join('\n');
}

const textOf = (material: unknown): string =>
  (material instanceof Error ? errorText(material) : '') + inspect(material, DEEP);

/** The first secret in what was collected, or undefined. */
export function findSecret(material: unknown): string | undefined {
  const text = textOf(material);
  const lower = text.toLowerCase();
  return SECRETS.find((secret) => lower.includes(secret)) ?? SIGN.exec(text)?.[0];
}

/** Fails if a key, a password or a signature is in what was collected. */
export function assertNoSecret(what: string, materials: readonly unknown[]): void {
  for (const material of materials) {
    const secret = findSecret(material);
    assert.equal(secret, undefined, `a secret is in ${what}: ${textOf(material).slice(0, 2000)}`);
  }
}
