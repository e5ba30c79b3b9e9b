import type { Store } from './store';
import { isObject } from '../util/object';

/** Longer than any message: an upload or a push, in Base64. */
const LONGEST = 32 * 1024 * 1024;
const MAX_NAME = 400;

/** Called with what a member has sent, which may be malformed; throws nothing. */
export type BusHandler = (data: Readonly<Record<string, unknown>>, from: string) => void;

export interface BusOptions {
  readonly store: Pick<Store, 'publish' | 'subscribe'>;
  readonly member: string;
  /** Called with anything that is not a message. */
  readonly malformed: () => void;
}

const ALL = 'members';
const topicOf = (member: string | undefined): string =>
  member === undefined ? ALL : `member:${member}`;

/** Messages between the members of a cluster. They are not stored: one without a listening member is lost. */
export class Bus {
  private readonly handlers = new Map<string, BusHandler>();
  private readonly leave: (() => void)[];

  constructor(private readonly options: BusOptions) {
    const { store, member } = options;
    this.leave = [undefined, member].map((to) =>
      store.subscribe(topicOf(to), (text) => this.receive(text)),
    );
  }

  /** Sets the handler of messages of a kind. */
  on(kind: string, handler: BusHandler): void {
    this.handlers.set(kind, handler);
  }

  /**
   * Sends a message.
   * @param to a member; undefined: all others
   * @throws StoreError
   */
  send(to: string | undefined, kind: string, data: object): Promise<void> {
    const { store, member } = this.options;
    return store.publish(topicOf(to), JSON.stringify({ from: member, kind, data }));
  }

  /** As {@link send}, for messages that are repeated or may get lost. */
  post(to: string | undefined, kind: string, data: object): void {
    this.send(to, kind, data).catch(() => undefined);
  }

  close(): void {
    for (const leave of this.leave) leave();
    this.handlers.clear();
  }

  private receive(text: string): void {
    const message = text.length <= LONGEST ? parsed(text) : undefined;
    if (!isObject(message) || !isObject(message['data']) || !isName(message['from'])) {
      this.options.malformed();
      return;
    }
    const { from, kind, data } = message;
    if (from === this.options.member || typeof kind !== 'string') return;
    // A later version of the package may send more kinds.
    this.handlers.get(kind)?.(data, from);
  }
}

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value.length > 0 && value.length <= MAX_NAME;

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
