import assert from 'node:assert/strict';
import { inspect } from 'node:util';
import { DEFAULT_CREDENTIALS } from '../../../src/simulator';
import { secretSearch } from '../../tooling/secret-search';

/** Keys that are nowhere else, so that one of them in an error, a status or a log is a leak. */
export const CANARIES = {
  // In lower case, as the public server takes it: row 1b of docs/known-service.md.
  appkey: 'canary-appkey-4f1d',
  serverKey: 'Canary-ServerKey-7B2C',
  serverPassword: 'Canary-ServerPassword-9E0A',
} as const;

/** Of proxies, wherever they are configured. */
export const PROXY_CANARIES = {
  username: 'Canary-ProxyUser-3A5E',
  password: 'Canary/Proxy+Password%8C=',
} as const;

const { appkey, serverKey, serverPassword } = DEFAULT_CREDENTIALS;
const search = secretSearch([
  ...Object.values(CANARIES),
  ...Object.values(PROXY_CANARIES),
  ...[appkey, serverKey, serverPassword],
]);

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

/** Fails if a key, a password or a signature is in what was collected. */
export function assertNoSecret(what: string, materials: readonly unknown[]): void {
  for (const material of materials) {
    const text = textOf(material);
    const secret = search(text)?.secret ?? SIGN.exec(text)?.[0];
    assert.equal(secret, undefined, `a secret is in ${what}: ${text.slice(0, 2000)}`);
  }
}
