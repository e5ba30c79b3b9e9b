import { canonicalParams } from './signing';

/** How a request was signed, and a command that sends the same one. Neither has a key or a sign in it. */
export interface SignedText {
  /** The text whose MD5 is the sign. A name such as `<APPKEY>` stands for each key. */
  signed: string;
  /** For a POSIX shell with `curl` and `openssl`. It takes the keys from its environment, and the time at which it runs. */
  curl: string;
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * @param keys environment variables that must be set
 * @param text what is signed: a format of `printf` and its values
 * @param request the arguments of `curl`
 */
const command = (keys: readonly string[], text: string, request: string): string =>
  [
    `: ${keys.map((name) => `"\${${name}:?}"`).join(' ')} &&`,
    'timestamp=$(date +%s) &&',
    // The output of openssl has differed over time.
    `sign=$(printf ${text} | openssl md5 | sed 's/.*= *//') &&`,
    `curl -sSi ${request}`,
  ].join('\n');

/** The timestamp that a request has now, in seconds. */
const timestampOf = (now: number): string => String(Math.floor(now / 1000));

/** Of reading the application's record (section 5.2). @param appid digits @param now milliseconds since 1970 */
export function signedAppText(origin: string, appid: string, now: number): SignedText {
  const textOf = (timestamp: string): string => `get${canonicalParams({ timestamp, appid })}`;
  const url = `${quote(`${origin}/openapi/apps/?appid=${appid}&timestamp=`)}"$timestamp"'&sign='"$sign"`;
  return {
    signed: `${textOf(timestampOf(now))}<APPKEY>`,
    curl: command(['APPKEY'], `'${textOf('%s')}%s' "$timestamp" "$APPKEY"`, url),
  };
}

/** Of listing one of the server API's devices (section 5.1). @param now milliseconds since 1970 */
export function signedServerText(origin: string, now: number): SignedText {
  const path = '/api/server/devices';
  const keys = ['SERVER_KEY', 'SERVER_PASSWORD'];
  const values = '"$SERVER_KEY" "$timestamp" "$SERVER_PASSWORD"';
  const text = `'get${path}key=%stimestamp=%s%s' ${values} | LC_ALL=C tr 'A-Z' 'a-z'`;
  const headers = `-H "Key: $SERVER_KEY" -H "Timestamp: $timestamp" -H "Sign: $sign"`;
  return {
    signed: `get${path}key=<SERVER_KEY>timestamp=${timestampOf(now)}<SERVER_PASSWORD>`,
    curl: command(keys, text, `${headers} ${quote(`${origin}${path}?page=1&count=1`)}`),
  };
}
