import { createHash } from 'node:crypto';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** Section 5.2 written down anew: the client must not be checked with its own code. */
export function signByHand(
  method: string,
  params: Readonly<Record<string, string>>,
  appkey: string,
): string {
  const names = new Map(Object.keys(params).map((name) => [name.toLowerCase(), name]));
  const pairs = [...names.keys()]
    .sort()
    .reverse()
    .map((key) => `${key}=${params[names.get(key) ?? ''] ?? ''}`.toLowerCase());
  return md5(method.toLowerCase() + pairs.join('&') + appkey);
}

/** Section 5.1 written down anew. */
export function signServerByHand(
  method: string,
  path: string,
  key: string,
  timestamp: string,
  password: string,
): string {
  return md5((method + path + `key=${key}` + `timestamp=${timestamp}` + password).toLowerCase());
}
