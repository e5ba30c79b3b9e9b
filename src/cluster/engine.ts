import type { Redis } from 'ioredis';
import { notConfigured } from '../errors';
import { redactor } from '../util/show';
import { readAddress, type Address, type EngineSettings } from '../protocol/engine-address';
import { EngineError, faultOf, IS_REPLICA, LACKS_RIGHTS, type Fault } from './engine-error';
import type { Keys, Script } from './scripts';

/** The name in the engine's list of clients. */
const NAME = 'device-cloud';

/** Milliseconds until the connection must be made. */
const CONNECT = 2000;
/** The longest pause before the next connection, in ms. */
const LONGEST_PAUSE = 500;
/** Milliseconds that a replaced connection waits for its peer. */
const DISCONNECT = 100;

const pause = (attempt: number): number => Math.min(LONGEST_PAUSE, 50 * attempt);

const NO_CONNECTION = /isn't writeable|Connection is closed|max retries per request/;

/** What follows from a fault that was there before: it says less. */
const CONSEQUENCE = /\b(EPIPE|ECONNRESET|ECONNABORTED)\b/;

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
    this.#fault = faultOf(error, this.#redact);
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
        ? faultOf(error, this.#redact)
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
