import { oneLine } from '../../util/show';
import { StoreError } from '../store';
import { causeOf, isVague } from './connect-fault';
import type { Connection } from './load';
import type { Script } from './scripts/script';

/** The longest text of an engine's error that is repeated. */
const MAX_TEXT = 200;

const NOT_REACHED = 'it has not been reached yet';
const NOT_READY =
  'it was reached, but is loading its data, or is a Redis Cluster that is incomplete or forbids CLUSTER INFO';

/** Commands of a connection, each with a time limit of its own, whatever the client library promises. */
export class Commands {
  /** Why there is no connection, or was none at last. */
  private reason = NOT_REACHED;
  /** Who waits for the connection. */
  private waiting: (() => void)[] = [];

  /**
   * @param limit milliseconds
   * @param redact takes out what is secret: an engine may repeat a command that it does not know, AUTH with the
   *   password among them
   */
  constructor(
    private readonly connection: Connection,
    private readonly limit: number,
    private readonly redact: (text: string) => string,
  ) {
    connection.on('error', (error) => this.failed(error));
    connection.on('connect', () => (this.reason = NOT_READY));
    connection.on('ready', () => this.waiting.splice(0).forEach((resolve) => resolve()));
  }

  /** Resolves when there is a connection, or when it takes too long: then commands say why. */
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
    // Often follows one that says more.
    if (!isVague(error) || this.reason === NOT_REACHED) this.reason = this.textOf(error);
  }

  private limited(send: () => Promise<unknown>): Promise<unknown> {
    if (this.connection.status !== 'ready')
      return Promise.reject(new StoreError(`Not connected: ${this.reason}.`, false));
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new StoreError(`No answer within ${this.limit} ms.`, true));
      }, this.limit);
      send()
        .then(resolve, (error: unknown) => reject(this.failure(error)))
        .finally(() => clearTimeout(timer));
    });
  }

  /** A new error: that of the library contains the command, which may be the one with the password. */
  private failure(error: unknown): StoreError {
    if (isReply(error)) return new StoreError(`Refused: ${this.textOf(error)}.`, false, true);
    return new StoreError(`Connection lost: ${this.textOf(error)}.`, true);
  }

  private textOf(error: unknown): string {
    const text = this.redact(error instanceof Error ? causeOf(error).message : 'unknown');
    return oneLine(text.trim(), MAX_TEXT).replace(/\.$/, '');
  }
}

const isReply = (error: unknown): error is Error =>
  error instanceof Error && error.name === 'ReplyError';
