import type { Redis } from 'ioredis';
import { notConfigured } from '../errors';
import { redactor } from '../http/redact';
import { readAddress, type Address, type EngineSettings } from '../input/engine-address';
import { FORMAT, REFUSED, type Keys, type Script } from './scripts';

/** The name in the engine's list of clients. */
const NAME = 'device-cloud';

/** Milliseconds until the connection must be made. */
const CONNECT = 2000;
/** The longest pause before the next connection, in ms. */
const LONGEST_PAUSE = 500;
/** Milliseconds that a replaced connection waits for its peer. */
const DISCONNECT = 100;

const pause = (attempt: number): number => Math.min(LONGEST_PAUSE, 50 * attempt);

/** A replica refuses to write. One of 6.2 says so in the midst of a text about the script. */
const IS_REPLICA = /\b(READONLY|MASTERDOWN)\b/;
const LACKS_RIGHTS = /NOPERM|user executing the script can't/i;
const NO_CONNECTION = /isn't writeable|Connection is closed|max retries per request/;

/** What follows from a fault that was there before: it says less. */
const CONSEQUENCE = /\b(EPIPE|ECONNRESET|ECONNABORTED)\b/;

/** What users have to change. The first that applies. */
const MISTAKES: readonly (readonly [RegExp, string])[] = [
  [
    /WRONGPASS|NOAUTH|invalid (username-)?password|ERR AUTH /,
    'it refuses the user or the password.',
  ],
  [
    new RegExp(`\\b(MOVED|ASK|CLUSTERDOWN|CROSSSLOT|${REFUSED.cluster})\\b|in cluster mode`),
    'it is a Redis Cluster, where all keys of an application are on one node, so that it would gain nothing. ' +
      'Use one Redis or Valkey, with Sentinels if it must not fail.',
  ],
  [
    new RegExp(`\\b${REFUSED.format} (?<format>\\S+)`),
    `what is kept there has the format $<format>, and this version of the package knows ${FORMAT}: ` +
      'all processes of an application need the same version.',
  ],
  [/Protocol error|Unknown RESP type/, 'what answers there is neither Redis nor Valkey.'],
  [/DB index/, 'it has no database of the number in the url.'],
  [
    /wrong version number|packet length too long|ssl3_get_record/i,
    'it does not speak TLS: use redis:// instead of rediss://.',
  ],
  [/unknown command .sentinel/i, 'it is no Sentinel: these usually have the port 26379.'],
  [
    /unknown command|unknown subcommand/i,
    'it lacks a command that is needed: Redis 6.2, Valkey 7.2 or later is required.',
  ],
];

/** What may pass. */
const FAILURES: readonly (readonly [RegExp, string])[] = [
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
type Fault = readonly [text: string, isMistake: boolean];

const CLOSED: Fault = ['it ends connections without an answer.', false];

/** What is called with each message of a channel. */
export type Channels = Readonly<Record<string, (text: string) => void>>;

type Command = readonly [name: string, ...args: (string | number)[]];

/**
 * A connection to Redis or Valkey for commands, and another one for what is subscribed to: an engine cuts off who subscribes and is sent
 * more than 32 MB that it has not read, as a share may be. Both are made again by themselves. No command waits for a connection or is
 * repeated: that is decided here, not by the client library.
 */
export class Engine {
  readonly #commands: Redis;
  readonly #subscriber: Redis;
  readonly #redact: (text: string) => string;
  readonly #channels: Channels;
  /** Those that are given up, until they are closed. */
  readonly #renewed = new Set<Redis>();
  /** Of the connections that are made, until each is lost or refuses it. */
  readonly #introductions = new Map<Redis, Promise<void>>();
  readonly #database: number;
  #isSubscribed = false;
  /** The last fault of a connection since the last answer, if any. */
  #fault: Fault | undefined;

  private constructor(
    library: typeof Redis,
    address: Address,
    settings: EngineSettings,
    channels: Channels,
  ) {
    this.#channels = channels;
    this.#redact = redactor([address.password].filter((secret) => secret !== undefined));
    this.#database = address.database;
    const connect = (): Redis => {
      const connection = new library(optionsOf(address, settings));
      if (address.master !== undefined) offerLogin(connection, address);
      // Attached for good: without a listener an error would end the process.
      for (const event of ['error', 'sentinelError'])
        connection.on(event, (error: Error) => this.#failed(error));
      let timer: NodeJS.Timeout | undefined;
      // The library waits indefinitely for an engine that accepts a connection and does not answer.
      connection.on('connect', () => (timer = setTimeout(() => this.#isLate(CONNECT), CONNECT)));
      connection.on('ready', () => {
        clearTimeout(timer);
        this.#introduced(connection).catch(() => undefined);
      });
      connection.on('close', () => {
        clearTimeout(timer);
        this.#renewed.delete(connection);
        this.#introductions.delete(connection);
      });
      return connection;
    };
    this.#commands = connect();
    this.#subscriber = connect();
    this.#subscriber.on('close', () => (this.#isSubscribed = false));
    this.#subscriber.on('message', (channel: string, text: string) => channels[channel]?.(text));
  }

  /**
   * Begins to connect.
   * @throws DeviceCloudError `NOT_CONFIGURED` if the address is wrong, or the client library is not installed
   */
  static async open(settings: EngineSettings, channels: Channels): Promise<Engine> {
    const address = readAddress(settings, settings.tls !== undefined);
    const library = await import('ioredis').catch(() => undefined);
    if (!library)
      throw notConfigured(
        'A cluster needs the package ioredis, which is not installed. Install it where Node-RED has its nodes: ' +
          'npm install ioredis@6',
      );
    return new Engine(library.Redis, address, settings, channels);
  }

  /**
   * Runs a command, unless the user may not subscribe: then nothing else is of use.
   * @param limit milliseconds
   * @throws EngineError
   */
  async call(limit: number, ...command: Command): Promise<unknown> {
    const isListening = this.#subscriber.status === 'ready';
    const needed = isListening ? [this.#commands, this.#subscriber] : [this.#commands];
    const introduced = Promise.all(needed.map((connection) => this.#introduced(connection)));
    return this.#within(limit, command, introduced);
  }

  /**
   * Runs a script.
   * @param limit milliseconds for each of the commands that this takes
   * @throws EngineError
   */
  async run(
    limit: number,
    { text, sha }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const all = [keys.length, ...keys, ...args];
    try {
      return await this.call(limit, 'EVALSHA', sha, ...all).catch((error: unknown) => {
        // Nothing was done.
        if (!(error as Error).message.includes('NOSCRIPT')) throw error;
        return this.call(limit, 'EVAL', text, ...all);
      });
    } catch (error) {
      if (!(error as Error).message.includes('WRONGTYPE')) throw error;
      throw new EngineError(
        `one of its keys ${keys.join(', ')} has another type than a hash: something else uses it. Remove it, or use another database.`,
        { isRefusal: true, isMistake: true },
      );
    }
  }

  /** Whether nothing is known to be wrong: the first connection may be about to be made. */
  get isFaultless(): boolean {
    return this.#fault === undefined;
  }

  /** Whether what is published now arrives. */
  get isSubscribed(): boolean {
    return this.#isSubscribed;
  }

  /**
   * Tries everything that is needed. Nothing is left of it but an empty field of a key of its own, where the user may not delete.
   * @returns the rights that the user lacks, in the syntax of an ACL, such as `+info`
   * @throws EngineError if it is something else, or there is no answer
   */
  async missingRights({ trial }: Keys, limit: number): Promise<string[]> {
    await this.call(limit, 'PING').catch((error: unknown) => {
      if (!(error as EngineError).lacksRights) throw error;
    });
    const commands: Command[] = [
      ['EVAL', 'return 1', 1, trial],
      ['EVALSHA', 'f'.repeat(40), 1, trial],
      ...['HGETALL', 'DEL'].map((name): Command => [name, trial]),
      ...['HGET', 'HDEL'].map((name): Command => [name, trial, '']),
      ['HSET', trial, '', ''],
      ['DEL', trial],
      ['INFO', 'server'],
      ['PING'],
      ...(this.#database === 0 ? [] : [['SELECT', this.#database] as const]),
      ['TIME'],
      ['WAIT', 0, 1],
      ['PUBLISH', trial, ''],
      ['SUBSCRIBE', trial],
      ['UNSUBSCRIBE', trial],
    ];
    const missing = new Set<string>();
    const ask = async ([name, ...args]: Command): Promise<void> => {
      // The library crashes on a subscription in capitals.
      const right = name.toLowerCase();
      const { message } = await this.#within(limit, [right, ...args]).then(
        () => ({ message: '' }),
        (error: unknown) => error as Error,
      );
      if (!LACKS_RIGHTS.test(message)) return;
      if (/\bchannels?\b/.test(message)) missing.add(`&${trial.replace('trial', '*')}`);
      else if (/\bkeys?\b/.test(message)) missing.add(`~${trial.replace('trial', '*')}`);
      else missing.add(`+${right}`);
    };
    await Promise.all(commands.map(ask));
    // In one order, so that they are logged once.
    return [...missing].sort();
  }

  close(): void {
    this.#commands.disconnect();
    this.#subscriber.disconnect();
  }

  #connectionFor(command: string): Redis {
    return /subscribe$/i.test(command) ? this.#subscriber : this.#commands;
  }

  /** Resolves once a connection can be used. Where that is refused, it is tried again each time: a user may get rights meanwhile. */
  #introduced(connection: Redis): Promise<void> {
    let introduced = this.#introductions.get(connection);
    if (!introduced) {
      introduced = this.#introduce(connection).catch((error: unknown) => {
        this.#introductions.delete(connection);
        const { message } = error as Error;
        if (/closed|max retries/.test(message)) this.#fault ??= CLOSED;
        else this.#failed(error as Error);
        throw error;
      });
      this.#introductions.set(connection, introduced);
    }
    return introduced;
  }

  async #introduce(connection: Redis): Promise<void> {
    // What is something else may answer a subscription with a number, at which the library ends the process.
    const answer: unknown = await connection.ping(NAME);
    // Of a connection that is subscribed already, it is a list.
    if ([answer].flat().at(-1) !== NAME) throw new Error('Protocol error');
    connection.client('SETNAME', NAME).catch(() => undefined);
    if (connection === this.#subscriber) {
      await connection.subscribe(...Object.keys(this.#channels));
      this.#isSubscribed = true;
      // Where the library selects it, the database 0 is used if there is no other.
    } else if (this.#database !== 0) await connection.select(this.#database);
  }

  #failed(error: Error): void {
    if (NO_CONNECTION.test(error.message)) return;
    if (this.#fault && CONSEQUENCE.test(error.message)) return;
    this.#fault = this.#meaningOf(error);
  }

  /** @param introduced what it waits for before the command is sent */
  async #within(
    limit: number,
    [name, ...args]: Command,
    introduced: Promise<unknown> = Promise.resolve(),
  ): Promise<unknown> {
    let timer: NodeJS.Timeout | undefined;
    let isSent = false as boolean;
    let isOver = false;
    const answer = introduced.then(() => {
      // Its caller has been told that it was not sent.
      if (isOver) return undefined;
      isSent = true;
      return this.#connectionFor(name).call(name, ...args);
    });
    const isLate = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error('late')), limit);
    });
    try {
      const answered = await Promise.race([answer, isLate]);
      this.#fault = undefined;
      return answered;
    } catch (reason) {
      const error = reason as Error;
      const isRefusal = error.name === 'ReplyError';
      const isUnsent = !isSent || error.message.includes("isn't writeable");
      if (error.message === 'late') this.#isLate(limit);
      // Another connection may find the primary.
      else if (isRefusal && IS_REPLICA.test(error.message)) this.#renew();
      const [text, isMistake] = isRefusal
        ? this.#meaningOf(error)
        : (this.#fault ?? ['there is no connection yet.', false]);
      throw new EngineError(text, { isUnsent, isRefusal, isMistake });
    } finally {
      isOver = true;
      clearTimeout(timer);
    }
  }

  /** What is silent may have been cut, and the other connection with it. */
  #isLate(limit: number): void {
    this.#fault = [`there was no answer within ${Math.round(limit)} ms.`, false];
    this.#renew();
  }

  /** Once for all commands that are late: the library listens anew each time. */
  #renew(): void {
    for (const connection of [this.#commands, this.#subscriber]) {
      if (this.#renewed.has(connection) || connection.status === 'reconnecting') continue;
      this.#renewed.add(connection);
      connection.disconnect(true);
    }
  }

  #meaningOf({ message }: Error): Fault {
    for (const meanings of [MISTAKES, FAILURES])
      for (const [pattern, meaning] of meanings) {
        const found = pattern.exec(message);
        const text = meaning.replace('$<format>', found?.groups?.['format'] ?? '');
        if (found) return [text, meanings === MISTAKES];
      }
    const text = this.#redact(/[.!?]$/.test(message) ? message : `${message}.`);
    return [text, /certificate|altnames/i.test(message)];
  }
}

function optionsOf({ hosts, isTls, master, ...address }: Address, { tls }: EngineSettings) {
  const [only] = hosts;
  const secure = isTls ? { ...tls } : undefined;
  return {
    ...(address.user === undefined ? {} : { username: address.user }),
    ...(address.password === undefined ? {} : { password: address.password }),
    ...(secure && { tls: secure }),
    // The first answer says most: what comes before a connection is introduced would hide it.
    disableClientInfo: true,
    connectTimeout: CONNECT,
    disconnectTimeout: DISCONNECT,
    protocol: 2 as const,
    // It is subscribed to again here.
    autoResubscribe: false,
    // It would hold back what is answered with an error that says more.
    enableReadyCheck: false,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
    retryStrategy: pause,
    ...(master === undefined
      ? only
      : {
          sentinels: hosts.map((host) => ({ ...host })),
          name: master,
          sentinelRetryStrategy: pause,
          sentinelCommandTimeout: CONNECT,
          ...(secure && { sentinelTLS: secure, enableTLSForSentinelMode: true }),
        }),
  };
}

/**
 * Sentinels are asked without a password first. A Sentinel that requires it is sent the engine's, first with the user and then without,
 * since `requirepass` has no users.
 */
function offerLogin(connection: Redis, { user, password }: Address): void {
  if (password === undefined) return;
  const logins = [['', ''], ...(user === undefined ? [] : [[user, password]]), ['', password]];
  let tried = 0;
  connection.on('sentinelError', ({ message }: Error) => {
    if (!/NOAUTH|WRONGPASS/.test(message)) return;
    const [sentinelUsername = '', sentinelPassword = ''] = logins[++tried % logins.length] ?? [];
    // The library reads them again for each Sentinel.
    Object.assign(connection.options, { sentinelUsername, sentinelPassword });
  });
}
