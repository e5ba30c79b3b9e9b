import type { Fleet } from '../../src/index';

/** Milliseconds for which a fleet is kept up to date after a request. */
const KEPT = 60_000;
/** Milliseconds between two readings of the list meanwhile. */
const INTERVAL = 30_000;

/** Keeps a fleet up to date while it is viewed: the list of online devices is polled until a minute after the last request. */
export class FleetView {
  #polled: Fleet | undefined;
  #leave: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** Begins, or continues for another minute. A client that was closed and recreated has another fleet. */
  look(fleet: Fleet): void {
    if (fleet !== this.#polled) {
      this.close();
      this.#polled = fleet;
      this.#leave = fleet.pollList(INTERVAL, {});
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), KEPT);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#leave?.();
    this.#leave = this.#polled = undefined;
  }
}
