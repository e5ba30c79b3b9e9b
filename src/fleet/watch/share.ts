/** The state of one device of a watch: first its chip number, then whatever the watch has put there. */
export type WatchedState = readonly [chipid: string, ...rest: unknown[]];

/** A watch that runs in several processes. */
export interface SharedWatch {
  /** Identifies the watch in all processes: it is made of its options. */
  readonly key: string;
  states(): Iterable<WatchedState>;
  /** Applies the state of a device, which the process that holds it has sent. It may be malformed. */
  apply(state: unknown): void;
  /** This process may hold other devices now, or may emit events again. */
  moved(): void;
}

/** The connection of a watch to the other processes. */
export interface WatchPlace {
  /** A device of this process has changed. */
  changed(chipid: string): void;
  leave(): void;
}

/** Decides which process emits the events of a watch. */
export interface WatchShare {
  /** Whether this process may emit the events of a device now. */
  mayEmit(chipid: string): boolean;
  /** Whether it emits those that concern all devices. */
  readonly emitsForAll: boolean;
  join(watch: SharedWatch): WatchPlace;
}
