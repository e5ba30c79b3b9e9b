import type { Commands } from './commands';
import type { Connection } from './load';

/** Milliseconds between two pings: without them, a subscriber would not notice a silent peer. */
const PING = 5000;

type Listener = (text: string) => void;

/** Subscriptions, on a separate connection, since it accepts no other commands. */
export class Topics {
  private readonly topics = new Map<string, Set<Listener>>();
  private opened: { connection: Connection; commands: Commands } | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isClosed = false;

  /** @param open opens the connection, with the first subscription */
  constructor(
    private readonly open: () => Connection,
    private readonly commandsOf: (connection: Connection) => Commands,
  ) {}

  /** The commands of the connection, which is opened if necessary. */
  get commands(): Commands {
    return this.connected().commands;
  }

  add(topic: string, listener: Listener): () => void {
    const listeners = this.topics.get(topic);
    if (listeners) listeners.add(listener);
    else {
      this.topics.set(topic, new Set([listener]));
      this.connected().connection.subscribe(topic).catch(ignore);
    }
    return () => this.remove(topic, listener);
  }

  close(): void {
    this.isClosed = true;
    clearInterval(this.timer);
    this.topics.clear();
    this.opened?.connection.disconnect();
  }

  private remove(topic: string, listener: Listener): void {
    const listeners = this.topics.get(topic);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.topics.delete(topic);
    this.opened?.connection.unsubscribe(topic).catch(ignore);
  }

  private connected(): { connection: Connection; commands: Commands } {
    if (this.opened) return this.opened;
    const connection = this.open();
    this.opened = { connection, commands: this.commandsOf(connection) };
    connection.on('ready', () => {
      if (this.topics.size > 0) connection.subscribe(...this.topics.keys()).catch(ignore);
    });
    connection.on('message', (topic, text) => {
      for (const listener of [...(this.topics.get(topic) ?? [])]) listener(text);
    });
    if (this.isClosed) {
      connection.disconnect();
      return this.opened;
    }
    this.timer = setInterval(() => {
      if (connection.status === 'ready') connection.call('PING').catch(ignore);
    }, PING);
    return this.opened;
  }
}

/** The connection subscribes again when it is ready, and missing rights are found separately. */
const ignore = (): void => undefined;
