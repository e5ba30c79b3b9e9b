import type { Fleet } from '../../src/index';

/** Seconds for which a fleet is kept up to date after a request. */
const KEPT = 60;
/** Milliseconds between two readings of the list meanwhile. */
const INTERVAL = 30_000;

interface FleetViewDeps {
  fleet: () => Fleet | undefined;
  mayPoll: () => boolean;
  /** Something has changed. Called at most once a second. */
  onRevision: (revision: number) => void;
}

/**
 * Keeps a fleet up to date while it is viewed: polls the list of online devices and announces each
 * change. It ends a minute after the last request.
 */
export class FleetView {
  #left = 0;
  #timer: NodeJS.Timeout | undefined;
  #polled: Fleet | undefined;
  #leave: (() => void) | undefined;
  #announced = 0;
  readonly #deps: FleetViewDeps;

  constructor(deps: FleetViewDeps) {
    this.#deps = deps;
  }

  /** Begins, or continues for another minute. */
  look(): void {
    const fleet = this.#deps.fleet();
    if (!fleet) return;
    this.#left = KEPT;
    this.#poll(fleet);
    if (this.#timer) return;
    this.#announced = fleet.revision;
    this.#timer = setInterval(() => this.#turn(), 1000);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#leave?.();
    this.#leave = this.#polled = undefined;
  }

  /** A client that was closed and recreated has another fleet. */
  #poll(fleet: Fleet): void {
    if (fleet === this.#polled || !this.#deps.mayPoll()) return;
    this.#leave?.();
    this.#polled = fleet;
    this.#leave = fleet.pollList(INTERVAL, {});
  }

  #turn(): void {
    const fleet = this.#deps.fleet();
    if (!fleet || --this.#left <= 0) {
      this.close();
      return;
    }
    if (fleet.revision === this.#announced) return;
    this.#announced = fleet.revision;
    this.#deps.onRevision(fleet.revision);
  }
}
