import { createHash } from 'node:crypto';

/*
 * The signatures of section 5 written down a second time: nothing of src/ is called, since the client must not be
 * checked with its own code.
 */

const md5 = (text: string): string => createHash('md5').update(text, 'utf8').digest('hex');

/** Section 5.2 for parameters of different names: A + B + C. */
export function signByHand(
  method: string,
  params: Readonly<Record<string, string>>,
  appkey: string,
): string {
  // Names in descending order, by their code units; lowercased as a whole, not URL-encoded.
  const pairs = new Map(
    Object.entries(params).map(([name, value]) => [name.toLowerCase(), value.toLowerCase()]),
  );
  pairs.delete('sign');
  const b = [...pairs.keys()]
    .sort()
    .reverse()
    .map((name) => `${name}=${pairs.get(name)}`);
  return md5(method.toLowerCase() + b.join('&') + appkey);
}

/** Section 5.1: M + P + C + K, lowercased. */
export function signServerByHand(
  method: string,
  path: string,
  key: string,
  timestamp: string,
  password: string,
): string {
  const text = [method, path, 'key=', key, 'timestamp=', timestamp, password].join('');
  return md5(text.toLowerCase());
}
