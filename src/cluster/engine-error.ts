import { FORMAT, REFUSED } from './scripts';

/** A replica refuses to write. One of 6.2 says so in the midst of a text about the script. */
export const IS_REPLICA = /\b(READONLY|MASTERDOWN)\b/;
export const LACKS_RIGHTS = /NOPERM|user executing the script can't/i;
/** By what an error says. The first that applies; those that are marked last until somebody changes something. */
const FAULTS: readonly (readonly [pattern: RegExp, text: string, isMistake?: true])[] = [
  [
    /WRONGPASS|NOAUTH|invalid (username-)?password|ERR AUTH /,
    'it refuses the user or the password.',
    true,
  ],
  [
    new RegExp(`\\b(MOVED|ASK|CLUSTERDOWN|CROSSSLOT|${REFUSED.cluster})\\b|in cluster mode`),
    'it is a Redis Cluster, where all keys of an application are on one node, so that it would gain nothing. ' +
      'Use one Redis or Valkey, with Sentinels if it must not fail.',
    true,
  ],
  [
    new RegExp(`\\b${REFUSED.format} (?<format>\\S+)`),
    `what is kept there has the format $<format>, and this version of the package knows ${FORMAT}: ` +
      'all processes of an application need the same version.',
    true,
  ],
  [/Protocol error|Unknown RESP type/, 'what answers there is neither Redis nor Valkey.', true],
  [/DB index/, 'it has no database of the number in the url.', true],
  [
    /wrong version number|packet length too long|ssl3_get_record/i,
    'it does not speak TLS: use redis:// instead of rediss://.',
    true,
  ],
  [/unknown command .sentinel/i, 'it is no Sentinel: these usually have the port 26379.', true],
  [
    /unknown command|unknown subcommand/i,
    'it lacks a command that is needed: Redis 6.2, Valkey 7.2 or later is required.',
    true,
  ],
  [
    /connect ETIMEDOUT/,
    'there was no connection within 2 s. Where there is no TLS, the url begins with redis:// instead of rediss://.',
  ],
  [IS_REPLICA, 'it is a replica, or its primary is away.'],
];

type EngineErrorKind = Partial<Pick<EngineError, 'isUnsent' | 'isRefusal' | 'isMistake'>>;

/** Why a command was not answered as it should be, in words for a log. */
export class EngineError extends Error {
  override name = 'EngineError';
  /** Certainly not sent: there was no connection. */
  readonly isUnsent: boolean;
  /** The engine has answered, with an error. */
  readonly isRefusal: boolean;
  /** The user may not do all that is needed. */
  readonly lacksRights: boolean;
  /** It lasts until somebody changes something. */
  readonly isMistake: boolean;

  constructor(
    message: string,
    { isUnsent = false, isRefusal = false, isMistake = false }: EngineErrorKind,
  ) {
    super(message);
    this.isUnsent = isUnsent;
    this.isRefusal = isRefusal;
    this.lacksRights = isRefusal && LACKS_RIGHTS.test(message);
    this.isMistake = isMistake || this.lacksRights;
  }
}

/** A fault of the connection, in words; and whether it lasts until somebody changes something. */
export type Fault = readonly [text: string, isMistake: boolean];

/** @param redact removes secrets from what is not known */
export function faultOf({ message }: Error, redact: (text: string) => string): Fault {
  for (const [pattern, meaning, isMistake = false] of FAULTS) {
    const found = pattern.exec(message);
    if (found) return [meaning.replace('$<format>', found.groups?.['format'] ?? ''), isMistake];
  }
  const text = redact(/[.!?]$/.test(message) ? message : `${message}.`);
  return [text, /certificate|altnames/i.test(message)];
}
