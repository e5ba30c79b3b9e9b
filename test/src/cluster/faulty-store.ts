import { StoreError, type Store } from '../../../src/cluster/store';
import type { Process, VirtualTime } from './virtual-time';

/** What is between a process and its store; all can change at any time. */
export interface Line {
  /** Nothing gets through. */
  isCut: boolean;
  /** The chance that a message is lost, each way. */
  loss: number;
  /** The longest delay of a message, each way, in ms. */
  delay: number;
}

/** Milliseconds after which a process gives a command up; it may be carried out later. */
export const LIMIT = 1000;

/** A store at the end of a line that loses, delays and reorders commands and answers. */
export function faultyStore(
  store: Store,
  time: VirtualTime,
  process: Process,
  line: Line,
  random: () => number,
): Store {
  const isLost = (): boolean => line.isCut || random() < line.loss;
  // Most messages are quick; of the others some come after those that were sent later.
  const delay = (): number => (random() < 0.8 ? 1 + random() * 5 : random() * line.delay);

  const send = <T>(command: () => Promise<T>): Promise<T> =>
    new Promise((resolve, reject) => {
      const fail = (): void => reject(new StoreError('No answer.', true));
      const cancel = process.clock.after(LIMIT, fail);
      if (isLost()) return;
      time.after(delay(), () => {
        command().then(
          (answer) => {
            if (isLost()) return;
            time.after(delay(), () =>
              process.run(() => {
                cancel();
                resolve(answer);
              }),
            );
          },
          (error: unknown) => process.run(() => reject(error as Error)),
        );
      });
    });

  return {
    beat: (request) => send(() => store.beat(request)),
    leave: (member) => send(() => store.leave(member)),
    restore: (member, holding, entries) => send(() => store.restore(member, holding, entries)),
    save: (member, entries) => send(() => store.save(member, entries)),
    arrived: (entries) => send(() => store.arrived(entries)),
    load: (chipids) => send(() => store.load(chipids)),
    owners: () => send(() => store.owners()),
    lock: (key, token, ms, again) => send(() => store.lock(key, token, ms, again)),
    unlock: (key, token) => send(() => store.unlock(key, token)),
    waiting: (partitions) => send(() => store.waiting(partitions)),
    claim: (chipid, claim, most) => send(() => store.claim(chipid, claim, most)),
    acknowledge: (chipid, id) => send(() => store.acknowledge(chipid, id)),
    calls: store.calls,
    pins: store.pins,
    values: store.values,
    queueState: () => send(() => store.queueState()),
    publish: (topic, text) => send(() => store.publish(topic, text)),
    subscribe: (topic, listener) =>
      store.subscribe(topic, (text) => {
        if (!isLost()) time.after(delay(), () => process.run(() => listener(text)));
      }),
    info: () => send(() => store.info()),
    forbidden: () => send(() => store.forbidden()),
    close: () => Promise.resolve(),
  };
}
