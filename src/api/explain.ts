import { MIN_SECRET } from '../http/redact';
import type { KeyWarning } from '../input/pasted-key';
import { UNPRINTABLE } from '../util/show';
import { powershellCommand } from './powershell';
import {
  canonicalParams,
  encodeQuery,
  lowercase,
  type SignCase,
  type UnsignedOpenApiRequest,
  type UnsignedServerApiRequest,
} from './signing';

/** A warning about the keys of an explained request, or a note about the request itself. */
export type ExplainWarning = KeyWarning | ExplainNote;

/** A note about a request, as opposed to its keys. */
export interface ExplainNote {
  /**
   * - `secret`: a value of the request contains a key, so what would show it is left out.
   * - `channel`: the data of a push over the channel follows as a frame once the channel is open.
   * - `spelling`: the list of devices has a second spelling, which is requested after a 404.
   * - `tls`, `proxy`: settings of the application that the command does not have.
   * - `password-case`: the command lowercases A to Z alone, and the password has further capitals.
   */
  code: 'secret' | 'channel' | 'spelling' | 'tls' | 'proxy' | 'password-case';
  /** In English; in other languages by `code` and `values`. */
  message: string;
  /** What the message mentions: `frame`, the text frame of a push over the channel. */
  values?: Readonly<Record<string, string>>;
}

/** The request of a call and how it is signed, without a key and without a sign. */
export interface Explanation {
  /** In capitals. */
  method: string;
  /** From `/` on. With the query only of the server API, whose signature leaves it out (section 5.1). */
  path: string;
  /** The signed parameters, or headers of the server API, in the order of the signature. */
  parameters: [name: string, value: string][];
  /** The text whose MD5 is the sign, with `<APPKEY>`, `<SERVER_KEY>` and `<SERVER_PASSWORD>` for the keys. */
  signed: string;
  /**
   * A command for a POSIX shell with `curl` and `openssl` that sends the same, with its own timestamp
   * and the sign that it computes from `$APPKEY`, or from `$SERVER_KEY` and `$SERVER_PASSWORD`.
   */
  curl: string;
  /** The same for PowerShell, with `$env:APPKEY`, or `$env:SERVER_KEY` and `$env:SERVER_PASSWORD`. */
  powershell: string;
  /** What may be wrong with the keys, and what the command lacks. */
  warnings: ExplainWarning[];
}

/** An explanation that is not complete yet. */
export interface Draft extends Explanation {
  /** All text that the caller has given, as it was before any encoding. */
  given: string[];
}

/** The settings of a client that an explanation uses. */
export interface ExplainSettings {
  origin: string;
  appid: string;
  serverPassword: string;
  timestampUnit: 'ms' | 's';
  postParameters: 'body' | 'query';
  signCase: SignCase;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Options of `curl` for every request. */
  curlOptions: readonly string[];
}

/*
 * Text in a command for a POSIX shell. Besides what a shell would interpret, nothing unprintable appears in
 * it: a terminal into which a command is pasted obeys control characters, wherever the quotes are.
 */

/** A longer argument may be refused by the system: Linux accepts 128 KiB. */
const MAX_ARGUMENT = 100_000;

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

const variable = (name: string): string => `"$${name}"`;

const upTo = (text: string, name: string): string => `${quote(text)}${variable(name)}`;

const octal = (text: string): string => {
  let escaped = '';
  for (const byte of Buffer.from(text)) escaped += `\\${byte.toString(8).padStart(3, '0')}`;
  return escaped;
};

/** Any text as a quoted format of `printf`; `%s` can be put between two of them. */
const printfText = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('%', '%%').replaceAll("'", octal).replace(UNPRINTABLE, octal); // prettier-ignore

/** JSON with an escape for everything unprintable. */
const printableJson = (json: string): string =>
  json.replace(UNPRINTABLE, (character) =>
    character
      .split('')
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
      .join(''),
  );

/** The MD5 of standard input: `openssl` is on Linux and macOS, and its output has differed over time. */
const MD5 = "openssl md5 | sed 's/.*= *//'";

/**
 * A command that sets `timestamp` and `sign`.
 * @param needs environment variables that must be set
 * @param clock prints the time
 * @param text the signed text: a format of `printf`, and its values
 */
const signingCommand = (needs: readonly string[], clock: string, text: string): string =>
  [
    `: ${needs.map((name) => `"\${${name}:?}"`).join(' ')} &&`,
    `timestamp=${clock} &&`,
    `sign=$(printf ${text} | ${MD5}) &&`,
  ].join('\n');

/** A command that sends a request. @param body printable text */
function curlCommand(options: readonly string[], body?: string): string {
  const curl = ['curl -sSi', ...options].join(' ');
  if (body === undefined) return curl;
  return body.length > MAX_ARGUMENT
    ? `printf %s ${quote(body)} | ${curl} --data-binary @-`
    : `${curl} --data-raw ${quote(body)}`;
}

const TIMESTAMP = { variable: 'timestamp' };
const SIGN = { variable: 'sign' };
const KEY = { variable: 'env:SERVER_KEY' };

/** A request that is signed by section 5.2. */
interface SignedRequest {
  method: string;
  path: string;
  unit: 'ms' | 's';
  /** All parameters but the timestamp, as they are signed. */
  params: Readonly<Record<string, string>>;
  /** The query between the timestamp and the sign, and after the sign. */
  between?: string;
  rest?: string;
  options: readonly string[];
  body?: string | undefined;
  isChannel?: boolean;
}

function explainSigned(
  { origin, appid, signCase, now, curlOptions }: ExplainSettings,
  { method, path, unit, params, between = '', rest = '', options, body, isChannel }: SignedRequest,
): Explanation {
  const timestamp = String(unit === 'ms' ? now() : Math.floor(now() / 1000));
  const all = { timestamp, ...params, appid };
  const before = `${method.toLowerCase()}timestamp=`;
  // The timestamp comes first, since no parameter's name is greater.
  const after = canonicalParams(all, signCase).slice(`timestamp=${timestamp}`.length);
  const clock = `$(date +%s)${unit === 'ms' ? '000' : ''}`;
  const text = `'${before}%s${printfText(after)}%s' ${variable('timestamp')} ${variable('APPKEY')}`;
  const address = upTo(`${origin}${path}?appid=${appid}&timestamp=`, 'timestamp');
  const signed = upTo(`${between}&sign=`, 'sign') + (rest === '' ? '' : quote(rest));
  return {
    method,
    path,
    parameters: Object.entries(all).sort(([a], [b]) => (a < b ? 1 : -1)),
    signed: `${before}${timestamp}${after}<APPKEY>`,
    curl: `${signingCommand(['APPKEY'], clock, text)}\n${curlCommand([...options, address + signed], body)}`,
    powershell: powershellCommand({
      ...{ method, unit, needs: ['APPKEY'], isChannel: isChannel === true },
      signed: [before, TIMESTAMP, after, { variable: 'env:APPKEY' }],
      url: [
        `${isChannel ? origin.replace(/^http/, 'ws') : origin}${path}?appid=${appid}&timestamp=`,
        ...[TIMESTAMP, `${between}&sign=`, SIGN, rest],
      ],
      body:
        body === undefined ? undefined : { type: 'application/x-www-form-urlencoded', text: body },
      usesNoProxy: curlOptions.length > 0,
    }),
    warnings: [],
  };
}

/** Explains a request of the open API (sections 4.2 and 5.2). */
export function explainOpenApi(
  settings: ExplainSettings,
  { method, path, params }: UnsignedOpenApiRequest,
): Draft {
  const further = encodeQuery(params);
  const isForm = method === 'POST' && settings.postParameters === 'body';
  const explanation = explainSigned(settings, {
    ...{ method, path: `/openapi/${path}`, unit: 's', params },
    rest: isForm || further === '' ? '' : `&${further}`,
    options: [...settings.curlOptions, ...(method === 'POST' && !isForm ? ['-X POST'] : [])],
    body: isForm ? further : undefined,
  });
  const numbers = path.split('/').filter((part) => /^\d+$/.test(part));
  return { ...explanation, given: [...Object.values(params), ...numbers] };
}

/** The handshake of a WebSocket (RFC 6455). The key is any 16 bytes in Base64. */
const UPGRADE = [
  '--http1.1 --max-time 5',
  "-H 'Connection: Upgrade' -H 'Upgrade: websocket'",
  "-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='",
];

/** Explains the request that opens the channel of a device (sections 4.3 and 5.2). */
export function explainChannel(settings: ExplainSettings, chipid: string, data: Buffer): Draft {
  const explanation = explainSigned(settings, {
    ...{ method: 'GET', path: '/noticed/peer', unit: settings.timestampUnit },
    ...{ params: { chipid }, between: `&chipid=${chipid}` },
    options: [...UPGRADE, ...settings.curlOptions],
    isChannel: true,
  });
  const frame = JSON.stringify({ type: 'msgpush', body: data.toString('base64') });
  const message =
    'A push over the channel is not an HTTP request. This is the handshake that opens the channel: ' +
    `101 means that the key is accepted. The data follows as the text frame ${frame}`;
  const warnings: ExplainNote[] = [{ code: 'channel', message, values: { frame } }];
  return { ...explanation, warnings, given: [chipid, data.toString()] };
}

/** Explains a request of the server API (sections 4.1 and 5.1). */
export function explainServerApi(
  { origin, signCase, now, curlOptions, serverPassword }: ExplainSettings,
  { method, path, query, body }: UnsignedServerApiRequest,
): Draft {
  const timestamp = String(Math.floor(now() / 1000));
  const target = query === '' ? path : `${path}?${query}`;
  const before = `${lowercase(`${method}${path}`, signCase)}key=`;
  const values = ['SERVER_KEY', 'timestamp', 'SERVER_PASSWORD'].map(variable).join(' ');
  // The keys are known only when it runs.
  const text = `'${before}%stimestamp=%s%s' ${values} | LC_ALL=C tr 'A-Z' 'a-z'`;
  const command = signingCommand(['SERVER_KEY', 'SERVER_PASSWORD'], '$(date +%s)', text);
  const options = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...curlOptions,
    `-H ${upTo('Key: ', 'SERVER_KEY')}`,
    `-H ${upTo('Timestamp: ', 'timestamp')}`,
    `-H ${upTo('Sign: ', 'sign')}`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'"]),
    quote(`${origin}${target}`),
  ];
  const isPlain = lowercase(serverPassword, signCase) === lowercase(serverPassword, 'ascii');
  const message =
    'The command lowercases A to Z alone, and the password has other capital letters: ' +
    'set SERVER_PASSWORD to the password in lowercase.';
  return {
    method,
    path: target,
    parameters: [
      ['key', '<SERVER_KEY>'],
      ['timestamp', timestamp],
    ],
    signed: `${before}<SERVER_KEY>timestamp=${timestamp}<SERVER_PASSWORD>`,
    curl: `${command}\n${curlCommand(options, body === undefined ? undefined : printableJson(body))}`,
    powershell: powershellCommand({
      ...{ method, unit: 's', needs: ['SERVER_KEY', 'SERVER_PASSWORD'], isLowercased: true },
      signed: [before, KEY, 'timestamp=', TIMESTAMP, { variable: 'env:SERVER_PASSWORD' }],
      url: [`${origin}${target}`],
      headers: [
        ['Key', KEY],
        ['Timestamp', TIMESTAMP],
        ['Sign', SIGN],
      ],
      body: body === undefined ? undefined : { type: 'application/json', text: body },
      usesNoProxy: curlOptions.length > 0,
    }),
    warnings: isPlain ? [] : [{ code: 'password-case', message }],
    // After /api/server/devices/ comes the device.
    given: [...path.split('/').slice(4), decodeURIComponent(query), body ?? ''],
  };
}

const MASK = '***';

/** A secret as it is, within JSON, and percent-encoded. */
const formsOf = (secret: string): string[] =>
  [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())].map(
    (form) => form.toLowerCase(),
  );

/**
 * Removes from an explanation whatever would show a key, since a caller may have put one into a value. Only
 * what the caller gave is searched: a key that is an ordinary word may well be in the rest, too. What is
 * signed is lowercased, so all is compared in lowercase.
 */
export function hideSecrets(
  { given, ...explanation }: Draft,
  secrets: readonly (string | undefined)[],
): Explanation {
  const forms = secrets.flatMap((secret) =>
    secret !== undefined && secret.length >= MIN_SECRET ? formsOf(secret) : [],
  );
  const shows = (text: string): boolean => {
    const lower = text.toLowerCase();
    return forms.some((form) => lower.includes(form));
  };
  if (!given.some(shows)) return explanation;
  const { path, parameters, warnings } = explanation;
  const hide = (text: string): string => (given.includes(text) && shows(text) ? MASK : text);
  const message = 'A value of the request contains a key: what would show it is left out.';
  return {
    ...explanation,
    path: shows(`${path} ${decodeURIComponent(path)}`) ? MASK : path,
    parameters: parameters.map(([name, value]) => [name, hide(value)]),
    signed: MASK,
    // A command with gaps would send something else.
    curl: '',
    powershell: '',
    warnings: [...warnings.filter(({ code }) => code !== 'channel'), { code: 'secret', message }],
  };
}
