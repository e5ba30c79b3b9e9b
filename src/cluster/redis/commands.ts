import { EventEmitter, once } from 'node:events';
import { oneLine } from '../../util/show';
import { StoreError } from '../store';
import { causeOf, isReadOnly, isVague, wrongSetting, type Connection } from './connect';
import { script, type Script } from './scripts';

/** The most characters of an engine's error that are repeated. */
const MAX_TEXT = 200;

/** The slowest link that large commands and answers are given time for, in bytes per millisecond: 2 Mbit/s. */
const SLOWEST = 250;

/** The most bytes of commands that have no answer yet, so that a link that is too slow fills no memory. */
const MOST_PENDING = 64 * 1024 * 1024;

/** A call with at least this many bytes sends the script's text: an engine that does not know a hash needs all of them again. */
const LARGE = 64 * 1024;

const ignore = (): void => undefined;

const NOT_REACHED = 'it has not been reached yet';
const NOT_READY =
  'it was reached, but is not ready: it is loading its data, answers slowly, or is a Redis Cluster that is incomplete or ' +
  'forbids CLUSTER INFO';

interface CommandsOptions {
  /** Milliseconds that a small command may take. */
  readonly limit: number;
  /** Removes secrets: an engine may repeat a command that it does not know, such as AUTH with the password. */
  readonly redact: (text: string) => string;
  /**
   * Whether large commands are sent over it. Then a command waits for the connection, within the limit, and the
   * connection is replaced if a command takes too long: its remaining bytes must not delay the next one.
   */
  readonly isLarge?: boolean;
}

/** The commands of a connection. Each has a time limit, independent of the client library, which grows with its bytes. */
export class Commands {
  readonly #connection: Connection;
  readonly #options: CommandsOptions;
  /** Why the last connection failed, or the engine cannot be used. */
  #reason = NOT_REACHED;
  /** For the commands that wait for the connection. */
  readonly #events = new EventEmitter().setMaxListeners(0);
  /** Bytes of the commands without an answer: each one waits for those before it. */
  #pending = 0;
  #isBeingReplaced = false;

  constructor(connection: Connection, options: CommandsOptions) {
    this.#connection = connection;
    this.#options = options;
    connection.on('error', (error) => {
      // A vague error often follows a more specific one.
      if (!isVague(error) || this.#reason === NOT_REACHED) this.#reason = this.#textOf(error);
    });
    connection.on('connect', () => {
      this.#isBeingReplaced = false;
      if (this.#reason === NOT_REACHED) this.#reason = NOT_READY;
    });
    connection.on('ready', () => this.#events.emit('ready'));
  }

  /** Resolves when there is a connection, or after the time limit: then commands reject with the reason. */
  async ready(): Promise<void> {
    if (this.#connection.status === 'ready') return;
    const signal = AbortSignal.timeout(this.#options.limit);
    await once(this.#events, 'ready', { signal }).catch(ignore);
  }

  /**
   * Runs a script.
   * @param answer about how many bytes are expected
   * @throws StoreError
   */
  run(
    { text, sha }: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
    answer = 0,
  ): Promise<unknown> {
    const bytes = sizeOf(args);
    const all = [keys.length, ...keys, ...args];
    const whole = (): Promise<unknown> => this.#connection.call('EVAL', text, ...all);
    return this.#limited(bytes + answer, async () => {
      if (bytes >= LARGE) return whole();
      try {
        return await this.#connection.call('EVALSHA', sha, ...all);
      } catch (error) {
        // The engine forgets scripts when it restarts, and a replica has never seen them.
        if (!isReply(error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return whole();
      }
    });
  }

  /** @throws StoreError */
  call(command: string, ...args: (string | number)[]): Promise<unknown> {
    return this.read(0, command, ...args);
  }

  /**
   * @param answer about how many bytes are expected
   * @throws StoreError
   */
  read(answer: number, command: string, ...args: (string | number)[]): Promise<unknown> {
    return this.#limited(sizeOf(args) + answer, () => this.#connection.call(command, ...args));
  }

  /** Reads a hash. @param answer as for {@link read} @throws StoreError */
  async hash(key: string, answer = 0): Promise<[field: string, value: string][]> {
    return pairsOf(await this.read(answer, 'HGETALL', key));
  }

  /** The engine's clock, in ms since 1970. @throws StoreError */
  async time(): Promise<number> {
    const [seconds, micros] = (await this.call('TIME')) as [string, string];
    return Number(seconds) * 1000 + Number(micros) / 1000;
  }

  async #limited(bytes: number, send: () => Promise<unknown>): Promise<unknown> {
    const { limit, isLarge } = this.#options;
    if (isLarge) await this.ready();
    const { status } = this.#connection;
    if (status !== 'ready') {
      // It was opened, and its peer has been silent since.
      if (isLarge && status === 'connect') this.#replace();
      throw this.#notConnected(status);
    }
    if (this.#pending > 0 && this.#pending + bytes > MOST_PENDING)
      throw new StoreError('Too much is on its way already.', false);
    this.#pending += bytes;
    const most = Math.ceil(limit + this.#pending / SLOWEST);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new StoreError(`No answer within ${most} ms.`, true));
        if (isLarge) this.#replace();
      }, most);
    });
    const answer = send().catch((error: unknown) => {
      throw this.#failure(error);
    });
    try {
      return await Promise.race([answer, late]);
    } finally {
      clearTimeout(timer);
      this.#pending -= bytes;
    }
  }

  #replace(): void {
    if (this.#isBeingReplaced) return;
    this.#isBeingReplaced = true;
    this.#connection.disconnect(true);
  }

  #notConnected(status = this.#connection.status): StoreError {
    const why = status === 'connect' ? NOT_READY : this.#reason;
    return new StoreError(`Not connected: ${why}.`, false, false, wrongSetting(why));
  }

  /** A new error: the library's contains the command, which may have the password in it. */
  #failure(error: unknown): StoreError {
    const text = this.#textOf(error);
    if (isReply(error)) {
      // The connection is closed because of it, and the next commands fail without one.
      if (isReadOnly(error)) this.#reason = text;
      return new StoreError(`Refused: ${text}.`, false, true, wrongSetting(text));
    }
    const { name = '', message = '' } = error instanceof Error ? error : {};
    // The client's own message refers to settings of its own.
    if (message.startsWith("Stream isn't writeable")) return this.#notConnected();
    if (name === 'MaxRetriesPerRequestError')
      return new StoreError('The connection was lost before there was an answer.', true);
    return new StoreError(`Connection lost: ${text}.`, true);
  }

  #textOf(error: unknown): string {
    const text = this.#options.redact(error instanceof Error ? causeOf(error).message : 'unknown');
    // The rest of it is about the protocol.
    if (text.startsWith('NOAUTH')) return 'NOAUTH: it needs a password';
    return oneLine(text.trim(), MAX_TEXT).replace(/\.$/, '');
  }
}

const sizeOf = (args: readonly (string | number)[]): number =>
  args.reduce<number>((sum, arg) => sum + Buffer.byteLength(String(arg)), 0);

const isReply = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'ReplyError';

/** A list of texts as pairs. */
export const pairsOf = (answer: unknown): [string, string][] => {
  const texts = answer as string[];
  return texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? '']] : []));
};

/** Milliseconds between two pings: without them, a subscriber would not notice a silent peer. */
const PING = 5000;

/** Subscriptions to topics, on a connection of their own, since it accepts no other commands. */
export class Topics {
  readonly commands: Commands;
  readonly #connection: Connection;
  readonly #listeners = new Map<string, Set<(text: string) => void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(connection: Connection, options: CommandsOptions) {
    this.#connection = connection;
    this.commands = new Commands(connection, options);
    connection.on('ready', () => {
      // Missing rights are found separately.
      if (this.#listeners.size > 0) connection.subscribe(...this.#listeners.keys()).catch(ignore);
    });
    connection.on('message', (topic, text) => {
      for (const listener of [...(this.#listeners.get(topic) ?? [])]) listener(text);
    });
    this.#timer = setInterval(() => {
      if (connection.status === 'ready') connection.call('PING').catch(ignore);
    }, PING);
  }

  add(topic: string, listener: (text: string) => void): () => void {
    const listeners = this.#listeners.get(topic) ?? new Set();
    if (listeners.size === 0) {
      this.#listeners.set(topic, listeners);
      this.#connection.subscribe(topic).catch(ignore);
    }
    listeners.add(listener);
    return () => {
      if (!listeners.delete(listener) || listeners.size > 0) return;
      this.#listeners.delete(topic);
      this.#connection.unsubscribe(topic).catch(ignore);
    };
  }

  close(): void {
    clearInterval(this.#timer);
    this.#listeners.clear();
    this.#connection.disconnect();
  }
}

/** The prefix of the keys and channels of all applications, as a pattern of an ACL. */
const PREFIX = '{device-cloud:*';

/** How engines say that the user may not run a command, or that it is disabled. */
const FORBIDDEN = /NOPERM|user executing the script can't|unknown command/i;

const NOTHING = script('return 1');

type Command = readonly [name: string, ...args: (string | number)[]];

/** Further commands that the scripts and the store run on a key, by the arguments that follow it. */
const ON_KEY: readonly (readonly [names: string, ...args: (string | number)[]])[] = [
  ['GET EXISTS HGETALL HKEYS HLEN LLEN LPOP XLEN'],
  ['HGET HMGET HDEL RPUSH SADD SREM', ''],
  ['HSET HSETNX', '', ''],
  ['LINDEX', 0],
  ['PEXPIRE', 1000],
  ['LREM', 1, ''],
  ['SRANDMEMBER', 1],
  ['XADD', '*', '', ''],
  ['XRANGE', '-', '+'],
  ['XDEL', '0-1'],
];

/** A harmless use of each command that is needed. The key holds a text, so commands that would add to it fail. */
const usesOf = (key: string, topic: string, database: number): Command[] => [
  // A user without this right would work in database 0, without an error.
  ...(database === 0 ? [] : [['SELECT', database] as const]),
  ['SET', key, '', 'PX', 1000],
  ['EVAL', NOTHING.text, 1, key],
  ['EVALSHA', NOTHING.sha, 1, key],
  ['INFO', 'server'],
  ['TIME'],
  ...ON_KEY.flatMap(([names, ...args]) =>
    names.split(' ').map((name) => [name, key, ...args] as const),
  ),
  ['PUBLISH', topic, ''],
  ['DEL', key],
];

/** The right that the user lacks; undefined if the command is allowed. */
function missing(command: string, answer: PromiseSettledResult<unknown>): string | undefined {
  if (answer.status === 'fulfilled') return undefined;
  const error: unknown = answer.reason;
  if (!(error instanceof StoreError && error.isRefusal)) throw error;
  if (!FORBIDDEN.test(error.message)) {
    // The engine is full, for example, or has no such database.
    if (command === 'SET' || command === 'SELECT') throw error;
    return undefined;
  }
  if (/access .*\bchannels?\b/.test(error.message)) return `&${PREFIX}`;
  if (/access .*\bkeys?\b/.test(error.message)) return `~${PREFIX}`;
  return `+${command.toLowerCase()}`;
}

/**
 * Tries everything that the package needs.
 * @param subscriber the connection for subscriptions
 * @param key used for nothing else, as is the topic
 * @returns the rights that the user lacks, in the syntax of an ACL, such as `+info`
 * @throws StoreError if it does not answer
 */
export async function findForbidden(
  commands: Commands,
  subscriber: Commands,
  key: string,
  topic: string,
  database: number,
): Promise<string[]> {
  // It may have been opened just for this.
  await subscriber.ready();
  const uses = usesOf(key, topic, database);
  const subscriptions: Command[] = [
    ['SUBSCRIBE', topic],
    ['UNSUBSCRIBE', topic],
  ];
  const answers = await Promise.allSettled([
    ...uses.map((command) => commands.call(...command)),
    ...subscriptions.map((command) => subscriber.call(...command)),
  ]);
  const names = [...uses, ...subscriptions].map(([name]) => name);
  const found = answers.flatMap((answer, index) => missing(names[index] ?? '', answer) ?? []);
  return [...new Set(found)];
}
