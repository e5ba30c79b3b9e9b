import type { Fleet } from '../../../src/index';

/** Seconds for which a fleet is kept up to date after a request. */
const KEPT = 60;
/** Seconds between two readings of the list meanwhile. */
const INTERVAL = 30;

/** The dependencies of a view. */
export interface FleetViewDeps {
  /** The fleet of the current client. */
  fleet: () => Fleet | undefined;
  /** Whether the list can be read. */
  mayPoll: () => boolean;
  /** Something has changed. Called at most once a second. */
  onRevision: (revision: number) => void;
  /** Looks at what the revision does not count. @returns whether it has changed. It never rejects */
  hasMoved?: () => Promise<boolean>;
}

/**
 * Keeps a fleet up to date while it is viewed: polls the list of online devices and announces each
 * change. It ends a minute after the last request.
 */
export class FleetView {
  readonly #deps: FleetViewDeps;
  #left = 0;
  #timer: NodeJS.Timeout | undefined;
  #polled: Fleet | undefined;
  #leave: (() => void) | undefined;
  #announced = 0;

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
    void this.#deps.hasMoved?.().then((moved) => {
      if (moved && this.#timer) this.#deps.onRevision(fleet.revision);
    });
    if (fleet.revision === this.#announced) return;
    this.#announced = fleet.revision;
    this.#deps.onRevision(fleet.revision);
  }
}
