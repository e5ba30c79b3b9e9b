import type { KeyWarning } from '../input/pasted-key';
import type { UnsignedOpenApiRequest, OpenApiIdentity } from './open-api-request';
import { encodeQuery } from './query';
import type { UnsignedServerApiRequest } from './server-api-request';
import { argument, curlCommand, printableJson, printfText, signingCommand } from './shell';
import { canonicalParams, lowercase, type SignCase } from './signing';

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
  timestampUnit: 'ms' | 's';
  postParameters: 'body' | 'query';
  signCase: SignCase;
  /** Milliseconds since 1970. */
  now: () => number;
  /** Options of `curl` for every request. */
  curlOptions: readonly string[];
}

type Appid = Pick<OpenApiIdentity, 'appid'>;

/** Signs by section 5.2. `timestamp` comes first, since no parameter's name is greater. */
function openSignature(
  method: string,
  all: Readonly<Record<string, string>> & { timestamp: string },
  signCase: SignCase,
  unit: 'ms' | 's',
) {
  const { timestamp } = all;
  const before = `${method.toLowerCase()}timestamp=`;
  const after = canonicalParams(all, signCase).slice(`timestamp=${timestamp}`.length);
  const parameters = Object.entries(all).sort(([a], [b]) => (a < b ? 1 : -1));
  return {
    parameters,
    signed: `${before}${timestamp}${after}<APPKEY>`,
    command: signingCommand({
      needs: ['APPKEY'],
      zeros: unit === 'ms' ? '000' : '',
      format: `${before}%s${printfText(after)}%s`,
      variables: ['timestamp', 'APPKEY'],
      lowercases: false,
    }),
  };
}

/** Explains a request of the open API (sections 4.2 and 5.2). */
export function explainOpenApi(
  settings: ExplainSettings,
  { appid }: Appid,
  { method, path, params }: UnsignedOpenApiRequest,
): Draft {
  const { origin, signCase, postParameters, now, curlOptions } = settings;
  const timestamp = String(Math.floor(now() / 1000));
  const { command, ...signature } = openSignature(method, { timestamp, ...params, appid }, signCase, 's'); // prettier-ignore
  const further = encodeQuery(params);
  const isForm = method === 'POST' && postParameters === 'body';
  const rest = isForm || further === '' ? '' : `&${further}`;
  const address = argument(
    `${origin}/openapi/${path}?appid=${appid}&timestamp=`,
    ['timestamp'],
    '&sign=',
    ['sign'],
    ...(rest === '' ? [] : [rest]),
  );
  const asPost = method === 'POST' && !isForm ? ['-X POST'] : [];
  const curl = curlCommand([...curlOptions, ...asPost, address], isForm ? further : undefined);
  return {
    method,
    path: `/openapi/${path}`,
    ...signature,
    curl: `${command}\n${curl}`,
    warnings: [],
    given: [...Object.values(params), ...path.split('/').filter((part) => /^\d+$/.test(part))],
  };
}

/** The handshake of a WebSocket (RFC 6455). The key is any 16 bytes in Base64. */
const UPGRADE = [
  '--http1.1 --max-time 5',
  "-H 'Connection: Upgrade' -H 'Upgrade: websocket'",
  "-H 'Sec-WebSocket-Version: 13' -H 'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=='",
];

/** Explains the request that opens the channel of a device (sections 4.3 and 5.2). */
export function explainChannel(
  settings: ExplainSettings,
  { appid }: Appid,
  chipid: string,
  data: Buffer,
): Draft {
  const { origin, signCase, timestampUnit, now, curlOptions } = settings;
  const timestamp = String(timestampUnit === 'ms' ? now() : Math.floor(now() / 1000));
  const { command, ...signature } = openSignature('get', { timestamp, chipid, appid }, signCase, timestampUnit); // prettier-ignore
  const address = argument(
    `${origin}/noticed/peer?appid=${appid}&timestamp=`,
    ['timestamp'],
    `&chipid=${chipid}&sign=`,
    ['sign'],
  );
  const frame = JSON.stringify({ type: 'msgpush', body: data.toString('base64') });
  const message =
    'A push over the channel is not an HTTP request. This is the handshake that opens the channel: ' +
    `101 means that the key is accepted. The data follows as the text frame ${frame}`;
  return {
    method: 'GET',
    path: '/noticed/peer',
    ...signature,
    curl: `${command}\n${curlCommand([...UPGRADE, ...curlOptions, address], undefined)}`,
    warnings: [{ code: 'channel', message, values: { frame } }],
    given: [chipid, data.toString()],
  };
}

const passwordCase = (): ExplainNote => ({
  code: 'password-case',
  message:
    'The command lowercases A to Z alone, and the password has other capital letters: ' +
    'set SERVER_PASSWORD to the password in lowercase.',
});

/** Explains a request of the server API (sections 4.1 and 5.1). */
export function explainServerApi(
  settings: ExplainSettings,
  { serverPassword }: { serverPassword: string },
  { method, path, query, body }: UnsignedServerApiRequest,
): Draft {
  const { origin, signCase, now, curlOptions } = settings;
  const timestamp = String(Math.floor(now() / 1000));
  const target = query === '' ? path : `${path}?${query}`;
  const before = `${lowercase(`${method}${path}`, signCase)}key=`;
  const command = signingCommand({
    needs: ['SERVER_KEY', 'SERVER_PASSWORD'],
    zeros: '',
    format: `${before}%stimestamp=%s%s`,
    variables: ['SERVER_KEY', 'timestamp', 'SERVER_PASSWORD'],
    lowercases: true,
  });
  const options = [
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    ...curlOptions,
    `-H ${argument('Key: ', ['SERVER_KEY'])}`,
    `-H ${argument('Timestamp: ', ['timestamp'])}`,
    `-H ${argument('Sign: ', ['sign'])}`,
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'"]),
    argument(`${origin}${target}`),
  ];
  const curl = curlCommand(options, body === undefined ? undefined : printableJson(body));
  const isPlain = lowercase(serverPassword, signCase) === lowercase(serverPassword, 'ascii');
  return {
    method,
    path: target,
    parameters: [
      ['key', '<SERVER_KEY>'],
      ['timestamp', timestamp],
    ],
    signed: `${before}<SERVER_KEY>timestamp=${timestamp}<SERVER_PASSWORD>`,
    curl: `${command}\n${curl}`,
    warnings: isPlain ? [] : [passwordCase()],
    // After /api/server/devices/ comes the device.
    given: [...path.split('/').slice(4), decodeURIComponent(query), body ?? ''],
  };
}
