import { until } from '../../test/tooling/until';

/** Base addresses: of pushes, of long histories, and of channels and short ones. */
export interface Addresses {
  push: string;
  histories: string;
  http: string;
}

export interface State {
  /** Microseconds of CPU of the service so far. */
  cpu: number;
  pushes: number;
  /** Channels that are open, and those that have ended. */
  open: number;
  ended: number;
  /** Histories that were read. */
  histories: number;
}

/** Uploads that were sent, and the CPU of the service for them. */
export interface Flood {
  sent: number;
  cpu: number;
}

/** Path below the address of `http`. */
export const CONTROL = '/control';

/** Milliseconds in which 5,000 channels open, and histories are read. */
const PATIENCE = 300_000;

/** The service, as a subject controls it. */
export class ServiceClient {
  constructor(readonly addresses: Addresses) {}

  state = (): Promise<State> => this.#ask({});

  /** Uploads for `seconds` on all channels, on each at most `window` blocks that are not yet read. */
  flood = (seconds: number, window: number): Promise<Flood> =>
    this.#ask({ method: 'POST', body: JSON.stringify({ seconds, window }) });

  /** Ends all channels at once. */
  drop = (): Promise<State> => this.#ask({ method: 'DELETE' });

  /** Waits until a number of histories has been read. @throws Error if that takes too long */
  historiesRead = (count: number): Promise<void> =>
    until(
      async () => (await this.state()).histories >= count,
      `${count} histories have been read`,
      PATIENCE,
    );

  /** Waits until exactly this number of channels is open. @throws Error if it is not reached */
  channelsOpen = (count: number): Promise<void> =>
    until(
      async () => (await this.state()).open === count,
      `${count} channels are open (is ulimit -n high enough?)`,
      PATIENCE,
    );

  async #ask<T>(init: RequestInit): Promise<T> {
    return (await (await fetch(this.addresses.http + CONTROL, init)).json()) as T;
  }
}
