import type { ChannelSubscription } from '../channel/listener';
import type { Timed } from '../channel/timer-queue';
import { isDeviceCloudError, isSilence, type DeviceCloudError, type ErrorCode } from '../errors';
import { levelOf, type LevelCodes } from '../input/gpio';
import { isObject } from '../util/object';
import { isolated } from '../util/thrown';

/**
 * `kept`: the device has confirmed the level. `pending`: it has not, or not since it was last away. `differs`: it was set
 * three times in vain: it was read at another level, or could not be set although its device answers. `ended`: it is not kept
 * any more.
 */
export type KeptState = 'kept' | 'pending' | 'differs' | 'ended';

/** A pin that is to keep a level. */
export interface KeptPin {
  /** The device, as digits. */
  chipid: string;
  pin: number;
  /** Null once it has ended. */
  wanted: 0 | 1 | null;
  /** The level that was read last; null before, and if the answer had none of this pin. */
  found: unknown;
  state: KeptState;
}

/** How pins are kept, and who is called with changes. The same object for all pins that belong together. */
export interface PinKeeper {
  /** Milliseconds between two looks at a device, default 300,000; 0: only after it was away. */
  check?: number;
  /** The level of each character of an answer, as for `pinLevels`. */
  codes?: Readonly<Record<string, unknown>>;
  /** Milliseconds that a call may take, default 12,000. */
  timeout?: number;
  /** The state of a pin has changed, after the call that has set its level. */
  onState?(pin: KeptPin): void;
  /** What `pins.saved` returns has changed. */
  onChange?(): void;
  /**
   * A pin could not be set or read, and not since its device is silent: the service refuses or fails. Once for a code, until
   * the pin has the level.
   */
  onError?(pin: KeptPin, error: DeviceCloudError): void;
}

/** A keeper's options, checked and complete. */
export interface KeeperOptions {
  readonly keeper: PinKeeper;
  readonly check: number;
  readonly codes: LevelCodes;
  readonly seconds: number;
}

/** A pin as it is saved; times in ms since 1970. */
export interface SavedPin extends KeptPin {
  wanted: 0 | 1;
  /** When it was given its level: of two for one pin, the newest counts. */
  since: number;
  /** When it was last set; null before. */
  setAt: number | null;
  /** When its device was last looked at, if that is known. */
  lookedAt: number | null;
}

/** After so many times that a pin was set and does not follow, it is left alone. */
const MOST_MISSES = 3;

/** What is wanted of a pin, and what was found. Plain fields, since there may be thousands. */
export class WantedPin {
  found: unknown = null;
  state: Exclude<KeptState, 'ended'> = 'pending';
  /** Whether its level has not been sent yet. */
  isNew = true;
  /** When it was last set, on the clock of the timers. */
  setAt = -Infinity;
  #misses = 0;
  /** The code of the error that was last reported to its keeper. */
  #failure: ErrorCode | undefined;

  constructor(
    readonly chipid: string,
    readonly pin: number,
    public wanted: 0 | 1,
    public options: KeeperOptions,
    /** Milliseconds since 1970. */
    public since: number,
  ) {}

  get isAsWanted(): boolean {
    return levelOf(this.found) === this.wanted;
  }

  view(): KeptPin {
    const { chipid, pin, wanted, found, state } = this;
    return { chipid, pin, wanted, found, state };
  }

  /** Takes another level. The caller tells the keeper. */
  want(level: 0 | 1): void {
    this.wanted = level;
    this.isNew = true;
    this.state = 'pending';
    this.#misses = 0;
    this.#failure = undefined;
  }

  /** Its device has told its levels. A newer wish waits until it was sent. */
  read(found: unknown): void {
    this.found = found ?? null;
    if (this.isNew) return;
    if (this.isAsWanted) {
      this.#misses = 0;
      this.#failure = undefined;
      this.#change('kept');
    } else if (this.state === 'kept') this.#change('pending');
  }

  tried(): void {
    if (!this.isNew && !this.isAsWanted) this.#missed();
  }

  /** It could not be set. @param isSilent whether its device has not answered this look at all */
  failed(error: unknown, isSilent: boolean): void {
    if (!isDeviceCloudError(error)) return;
    if (!isSilence(error)) this.tell(error);
    const isAnswered = error.uncertain || isDeviceCloudError(error, 'BAD_REQUEST', 'NOT_FOUND');
    if (isAnswered && !isSilent && !this.isNew) this.#missed();
  }

  /** Tells the keeper of an error, once for a code until the pin has its level. */
  tell(error: DeviceCloudError): void {
    if (error.code === this.#failure) return;
    this.#failure = error.code;
    isolated(() => this.options.keeper.onError?.(this.view(), error));
  }

  /** Its level is not certain any more. @param isAnew whether its device was away: then it is tried anew */
  doubt(isAnew: boolean): void {
    if (isAnew) this.#misses = 0;
    if (isAnew || this.state === 'kept') this.#change('pending');
  }

  /** Somebody else keeps it from now on, or nobody does. */
  end(): void {
    const { keeper } = this.options;
    const ended: KeptPin = { ...this.view(), wanted: null, state: 'ended' };
    isolated(() => keeper.onState?.(ended));
    this.changed();
  }

  /** Something that is saved has changed. */
  changed(): void {
    isolated(() => this.options.keeper.onChange?.());
  }

  #missed(): void {
    if (++this.#misses >= MOST_MISSES) this.#change('differs');
  }

  #change(state: WantedPin['state']): void {
    if (state === this.state) return;
    this.state = state;
    isolated(() => this.options.keeper.onState?.(this.view()));
    this.changed();
  }
}

/** Milliseconds between two looks at a device, and between two sets of a pin to the same level. */
export const GAP = 30_000;

/** Doublings of that after looks that failed although the device is listed. */
const MOST_DOUBLINGS = 4;

/** A device of which pins are kept. Times are on the clock of the timers. */
export class KeptDevice implements Timed {
  due = 0;
  index = -1;
  readonly pins = new Map<number, WantedPin>();
  /** Whether nothing is called until it shows itself. */
  isAway = false;
  isBusy = false;
  /** Whether the list is being read before a look. */
  isStarting = false;
  isDue = false;
  /** Whether it has answered since the look began. */
  hasAnswered = false;
  /** In which the look waits. */
  limiter: object | undefined;
  /** When it was last heard of, or lost. */
  knownAt = -Infinity;
  lookedAt = -Infinity;
  notBefore = -Infinity;
  /** Looks in a row that have failed. */
  failures = 0;
  /** Of its channel, while it is away. */
  subscription: ChannelSubscription | undefined;
  readonly #onDue: (device: KeptDevice) => void;

  constructor(
    readonly chipid: string,
    onDue: (device: KeptDevice) => void,
  ) {
    this.#onDue = onDue;
  }

  get hasNew(): boolean {
    return [...this.pins.values()].some(({ isNew }) => isNew);
  }

  /** Of a call that is about all pins. */
  get seconds(): number {
    return Math.max(...[...this.pins.values()].map(({ options }) => options.seconds));
  }

  /** When it may be looked at again, after looks that have failed. */
  nextAfter(failures: number): number {
    const checks = [...this.pins.values()].map(({ options }) => options.check || GAP);
    const gap = Math.min(GAP, ...checks);
    return this.lookedAt + gap * 2 ** Math.min(failures, MOST_DOUBLINGS);
  }

  /** When it is to be looked at; Infinity if not before it was away. */
  get nextLook(): number {
    const next = [...this.pins.values()].map(({ state, setAt, options }) => {
      if (state === 'pending') return Math.max(this.nextAfter(0), setAt + GAP);
      return state === 'kept' && options.check > 0 ? this.lookedAt + options.check : Infinity;
    });
    return Math.max(this.notBefore, Math.min(...next));
  }

  onDue(): void {
    this.#onDue(this);
  }
}

/** Checks a pin that was saved, by whatever version. @returns undefined if it is malformed */
export function readSaved(value: unknown): SavedPin | undefined {
  if (!isObject(value)) return undefined;
  const { chipid, pin, wanted, found, state, since, setAt, lookedAt } = value;
  const isPin =
    typeof chipid === 'string' &&
    /^\d{1,20}$/.test(chipid) &&
    Number.isSafeInteger(pin) &&
    Number(pin) >= 0 &&
    (wanted === 0 || wanted === 1);
  if (!isPin) return undefined;
  return {
    ...{ chipid, pin: Number(pin), wanted, found },
    state: state === 'kept' || state === 'differs' ? state : 'pending',
    since: typeof since === 'number' ? since : 0,
    setAt: typeof setAt === 'number' ? setAt : null,
    lookedAt: typeof lookedAt === 'number' ? lookedAt : null,
  };
}
