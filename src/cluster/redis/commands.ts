import { oneLine } from '../../util/show';
import { StoreError } from '../store';
import { causeOf, isReadOnly, isVague } from './connect-fault';
import type { Connection } from './load';
import type { Script } from './scripts/script';

/** The most characters of an engine's error that are repeated. */
const MAX_TEXT = 200;

const NOT_REACHED = 'it has not been reached yet';
const NOT_READY =
  'it was reached, but is not ready: it is loading its data, answers slowly, or is a Redis Cluster that is incomplete or ' +
  'forbids CLUSTER INFO';

/** The commands of a connection. Each has a time limit, independent of the client library. */
export class Commands {
  /** Why the last connection failed, or the engine cannot be used. */
  private reason = NOT_REACHED;
  /** Callbacks that wait for the connection. */
  private waiting: (() => void)[] = [];

  /**
   * @param limit milliseconds
   * @param redact removes secrets: an engine may repeat a command that it does not know, such as AUTH with the
   *   password
   */
  constructor(
    private readonly connection: Connection,
    private readonly limit: number,
    private readonly redact: (text: string) => string,
  ) {
    connection.on('error', (error) => this.failed(error));
    connection.on('connect', () => {
      if (this.reason === NOT_REACHED) this.reason = NOT_READY;
    });
    connection.on('ready', () => this.waiting.splice(0).forEach((resolve) => resolve()));
  }

  /** Resolves when there is a connection, or after the time limit: then commands reject with the reason. */
  async ready(): Promise<void> {
    if (this.connection.status === 'ready') return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, this.limit);
      this.waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  /** @throws StoreError */
  run(
    script: Script,
    keys: readonly string[],
    args: readonly (string | number)[],
  ): Promise<unknown> {
    const send = async (): Promise<unknown> => {
      try {
        return await this.connection.call('EVALSHA', script.sha, keys.length, ...keys, ...args);
      } catch (error) {
        // The engine forgets scripts when it restarts, and a replica has never seen them.
        if (!isReply(error) || !error.message.startsWith('NOSCRIPT')) throw error;
        return await this.connection.call('EVAL', script.text, keys.length, ...keys, ...args);
      }
    };
    return this.limited(send);
  }

  /** @throws StoreError */
  call(command: string, ...args: (string | number)[]): Promise<unknown> {
    return this.limited(() => this.connection.call(command, ...args));
  }

  private failed(error: Error): void {
    // A vague error often follows a more specific one.
    if (!isVague(error) || this.reason === NOT_REACHED) this.reason = this.textOf(error);
  }

  private limited(send: () => Promise<unknown>): Promise<unknown> {
    if (this.connection.status !== 'ready') return Promise.reject(this.notConnected());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new StoreError(`No answer within ${this.limit} ms.`, true));
      }, this.limit);
      send()
        .then(resolve, (error: unknown) => reject(this.failure(error)))
        .finally(() => clearTimeout(timer));
    });
  }

  private notConnected(): StoreError {
    const why = this.connection.status === 'connect' ? NOT_READY : this.reason;
    return new StoreError(`Not connected: ${why}.`, false);
  }

  /** A new error: that of the library contains the command, which may be the one with the password. */
  private failure(error: unknown): StoreError {
    const text = this.textOf(error);
    if (isReply(error)) {
      // The connection is closed because of it, and the next commands fail without one.
      if (isReadOnly(error)) this.reason = text;
      return new StoreError(`Refused: ${text}.`, false, true);
    }
    const { name = '', message = '' } = error instanceof Error ? error : {};
    // The client's own message refers to settings of its own.
    if (message.startsWith("Stream isn't writeable")) return this.notConnected();
    if (name === 'MaxRetriesPerRequestError')
      return new StoreError('The connection was lost before there was an answer.', true);
    return new StoreError(`Connection lost: ${text}.`, true);
  }

  private textOf(error: unknown): string {
    const text = this.redact(error instanceof Error ? causeOf(error).message : 'unknown');
    // The rest of it is about the protocol.
    if (text.startsWith('NOAUTH')) return 'NOAUTH: it needs a password';
    return oneLine(text.trim(), MAX_TEXT).replace(/\.$/, '');
  }
}

const isReply = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'ReplyError';
