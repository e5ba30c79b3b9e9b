import { isWithin, type Clock, type Moment } from './clock';

/** How long a member may act on what it last heard from the store, by both of its own clocks. */
export class Validity {
  /** When the last beat that confirmed the membership was sent: the store has known it at least since. */
  private confirmed: Moment | undefined;
  private wasValid = false;
  private cancel: () => void = () => undefined;

  /**
   * @param ms how long
   * @param changed is called when it begins and when it is over
   */
  constructor(
    private readonly clock: Clock,
    private readonly ms: number,
    private readonly changed: (isValid: boolean) => void,
  ) {}

  get isValid(): boolean {
    return this.confirmed !== undefined && isWithin(this.ms, this.confirmed, this.clock);
  }

  confirm(sent: Moment): void {
    this.confirmed = sent;
  }

  /** Tells whether it has changed, and looks again when its time is over. */
  check(): void {
    this.cancel();
    const { isValid, confirmed, clock } = this;
    if (isValid && confirmed) {
      const left = confirmed.monotonic + this.ms - clock.monotonic();
      this.cancel = clock.after(Math.max(1, left), () => this.check());
    }
    if (isValid === this.wasValid) return;
    this.wasValid = isValid;
    this.changed(isValid);
  }

  /** Ends it, without a call. */
  end(): void {
    this.cancel();
    this.confirmed = undefined;
  }
}
