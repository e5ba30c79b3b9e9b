import type { Connection } from './load';

/** Milliseconds between two pings: a subscriber that only waits would not notice a silent peer. */
const PING = 5000;

type Listener = (text: string) => void;

/** Subscriptions, on a connection of their own: one that has subscribed takes no other command. */
export class Topics {
  private readonly topics = new Map<string, Set<Listener>>();
  private connection: Connection | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param open opens the connection, with the first subscription */
  constructor(private readonly open: () => Connection) {}

  add(topic: string, listener: Listener): () => void {
    const listeners = this.topics.get(topic);
    if (listeners) listeners.add(listener);
    else {
      this.topics.set(topic, new Set([listener]));
      this.connected().subscribe(topic).catch(ignore);
    }
    return () => this.remove(topic, listener);
  }

  close(): void {
    clearInterval(this.timer);
    this.topics.clear();
    this.connection?.disconnect();
  }

  private remove(topic: string, listener: Listener): void {
    const listeners = this.topics.get(topic);
    if (!listeners?.delete(listener) || listeners.size > 0) return;
    this.topics.delete(topic);
    this.connection?.unsubscribe(topic).catch(ignore);
  }

  private connected(): Connection {
    if (this.connection) return this.connection;
    const connection = this.open();
    this.connection = connection;
    connection.on('error', ignore);
    connection.on('ready', () => {
      if (this.topics.size > 0) connection.subscribe(...this.topics.keys()).catch(ignore);
    });
    connection.on('message', (topic, text) => {
      for (const listener of [...(this.topics.get(topic) ?? [])]) listener(text);
    });
    this.timer = setInterval(() => {
      if (connection.status === 'ready') connection.call('PING').catch(ignore);
    }, PING);
    return connection;
  }
}

/** The connection subscribes again when it is ready. */
const ignore = (): void => undefined;
