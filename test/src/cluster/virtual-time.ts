import { settled } from '../../../tooling/until';
import type { Clock } from '../../../src/cluster/store';

interface Event {
  at: number;
  run: () => void;
}

/** Time that passes only from one event to the next, the same for all processes of a world. */
export class VirtualTime {
  now = 0;
  private events: Event[] = [];

  /** @returns cancels it */
  at(at: number, run: () => void): () => void {
    const event = { at: Math.max(at, this.now), run };
    let place = this.events.length;
    while (place > 0 && (this.events[place - 1]?.at ?? 0) > event.at) place--;
    this.events.splice(place, 0, event);
    return () => {
      this.events = this.events.filter((each) => each !== event);
    };
  }

  after(ms: number, run: () => void): () => void {
    return this.at(this.now + ms, run);
  }

  /** Runs everything that is scheduled up to a time. @param look is called after each event */
  async runTo(end: number, look: () => void = () => undefined): Promise<void> {
    for (let event = this.events[0]; event && event.at <= end; event = this.events[0]) {
      this.events.shift();
      this.now = event.at;
      event.run();
      // What follows by promises is over before the next event.
      await settled(1);
      look();
    }
    this.now = end;
  }
}

/** A process: its own clocks, which may be wrong, and its pauses. */
export class Process {
  /** Added to its wall clock, which was set. */
  step = 0;
  isDead = false;
  private pausedTo = 0;

  constructor(
    private readonly time: VirtualTime,
    /** How fast its clocks are. */
    private readonly rate: number,
  ) {}

  readonly clock: Clock = {
    now: () => 1e12 + this.step + this.time.now * this.rate,
    monotonic: () => 5e6 + this.time.now * this.rate,
    // Node.js does not run a timer that was cleared, even if it was already due.
    after: (ms, callback) => {
      let isCancelled = false;
      const cancel = this.time.after(ms / this.rate, () =>
        this.run(() => isCancelled || callback()),
      );
      return () => {
        isCancelled = true;
        cancel();
      };
    },
  };

  get isPaused(): boolean {
    return this.time.now < this.pausedTo;
  }

  /** Stops it where it is, timers, answers and all. */
  pause(ms: number): void {
    this.pausedTo = Math.max(this.pausedTo, this.time.now + ms);
  }

  /** Runs something in it, as soon as it is not paused. */
  run(callback: () => void): void {
    if (this.isDead) return;
    if (this.isPaused) this.time.at(this.pausedTo, () => this.run(callback));
    else callback();
  }
}
