import { isWithin, type Clock, type Moment } from './clock';

/** Whether a member may still act on the last answer of the store, by both of its clocks. */
export class Validity {
  /** When the last beat that confirmed the membership was sent: the store received it no earlier. */
  private confirmed: Moment | undefined;
  private wasValid = false;
  private cancel: () => void = () => undefined;

  /**
   * @param ms how long an answer is valid
   * @param changed called when validity begins or ends
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

  /** Calls back if validity has changed, and schedules the next check for the time when it ends. */
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

  /** Ends validity without calling back. */
  end(): void {
    this.cancel();
    this.confirmed = undefined;
  }
}
