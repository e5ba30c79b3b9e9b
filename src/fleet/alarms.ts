import type { Keeping } from '../store/store';
import type { Upload } from '../types';
import type { Guard } from '../util/guard';
import { isObject } from '../util/json';
import type { FleetDevice, FleetWatcher } from './devices';
import type { Alarm, AlarmEvent, Limit } from './limits';
import type { FleetRegistry } from './registry';

/** The limits of a device, and how its uploads are decoded. */
export interface DeviceLimits {
  readonly limits: readonly Limit[];
  /** @returns the fields; undefined if an upload cannot be decoded, or has none */
  decode(body: Buffer): Readonly<Record<string, unknown>> | undefined;
}

interface AlarmsDeps {
  readonly registry: FleetRegistry;
  readonly store: Keeping;
  /** The node whose state it is. */
  readonly node: string;
  /** @returns undefined if the device has no limits */
  limitsOf(chipid: string): DeviceLimits | undefined;
  readonly guard?: Pick<Guard, 'mayEmit'> | undefined;
}

/** What is known of a limit of a device. */
interface LimitState {
  /** The time of the first upload in a row that has crossed it, in ms; null if the last one has not. */
  since: number | null;
  alarm: Alarm | undefined;
  /** The alarm as it was last reported. */
  told: Alarm | undefined;
  /** The latest value. */
  last?: number;
}

/** Saved of each limit: its line, since when it is crossed, and the alarm that was reported. */
type SavedLimit = readonly [line: string, since: number | null, told: Alarm | null];

const isAlarm = (value: unknown): value is Alarm =>
  isObject(value) &&
  typeof value['field'] === 'string' &&
  typeof value['limit'] === 'string' &&
  Number.isFinite(value['value']);

/** What is known of a device, by the lines of its limits. */
class DeviceState {
  readonly limits = new Map<string, LimitState>();
  /** The time of the newest upload that was judged. */
  newest = -Infinity;

  /** @param saved may have been edited */
  constructor(saved?: unknown) {
    if (!Array.isArray(saved)) return;
    for (const entry of saved as unknown[]) {
      if (!Array.isArray(entry) || typeof entry[0] !== 'string') continue;
      const [line, since, told] = entry as [string, unknown, unknown];
      const alarm = isAlarm(told) ? told : undefined;
      const from = typeof since === 'number' && Number.isFinite(since) ? since : null;
      this.limits.set(line, { since: from, alarm, told: alarm });
    }
  }

  get alarms(): Alarm[] {
    return [...this.limits.values()].flatMap(({ told }) => told ?? []);
  }

  /** @param values of the fields that are limited @returns whether something has changed */
  judge(limits: readonly Limit[], at: number, values: ReadonlyMap<string, number>): boolean {
    this.newest = at;
    let isChanged = false;
    for (const [line, state] of this.limits) {
      if (limits.some((limit) => limit.line === line)) continue;
      // The type does not have it any more.
      if (!state.told) this.limits.delete(line);
      isChanged = true;
      state.alarm = undefined;
    }
    for (const limit of limits) {
      const value = values.get(limit.field);
      if (value !== undefined) isChanged = this.#apply(limit, value, at) || isChanged;
    }
    return isChanged;
  }

  #apply(
    { line, field, isCrossed, isCleared, duration }: Limit,
    value: number,
    at: number,
  ): boolean {
    const state = this.limits.get(line) ?? { since: null, alarm: undefined, told: undefined };
    const { since, alarm } = state;
    state.last = value;
    state.since = isCrossed(value) ? Math.min(since ?? at, at) : null;
    if (alarm) {
      if (isCleared(value)) state.alarm = undefined;
    } else if (state.since !== null && at - state.since >= duration)
      state.alarm = { field, value, limit: line };
    if (state.since === since && state.alarm === alarm) return false;
    this.limits.set(line, state);
    return true;
  }

  toJSON(): SavedLimit[] {
    return [...this.limits].map(([line, { since, told }]) => [line, since, told ?? null]);
  }
}

/**
 * Judges the uploads of the devices of an application by the limits of their types: an alarm is reported once when a limit has
 * been crossed for as long as it says, and once when that is over, also over restarts. Recovered uploads count for how long; what
 * they raise is reported only if it is not over by the newest one.
 */
export class Alarms implements FleetWatcher {
  readonly #deps: AlarmsDeps;
  readonly #devices = new Map<string, DeviceState>();
  readonly #leave: () => void;

  /** @param deps the store is loaded */
  constructor(deps: AlarmsDeps) {
    this.#deps = deps;
    this.#restore();
    this.#leave = deps.registry.addWatcher(this);
    deps.store.onMoved.add(this.#onMoved);
  }

  onEnd(): void {
    this.#leave();
    this.#deps.store.onMoved.delete(this.#onMoved);
  }

  /** What another process of a cluster knows of its devices is here no more, or has come from there. */
  readonly #onMoved = (): void => {
    const { registry, store } = this.#deps;
    for (const chipid of this.#devices.keys()) {
      if (store.get(this.#prefix + chipid) !== undefined) continue;
      this.#devices.delete(chipid);
      registry.onAlarms(chipid, []);
    }
    this.#restore();
  };

  #restore(): void {
    for (const [key, saved] of this.#deps.store.list(this.#prefix)) {
      const chipid = key.slice(this.#prefix.length);
      if (!/^\d{1,20}$/.test(chipid) || saved instanceof DeviceState) continue;
      const state = new DeviceState(saved);
      this.#devices.set(chipid, state);
      this.#deps.registry.onAlarms(chipid, state.alarms);
    }
  }

  onLive({ chipid, holding }: FleetDevice, upload: Upload): void {
    // What is held back, or may not be emitted now, is judged when it is emitted.
    if (holding === 0 && this.#mayEmit(chipid) && this.#judge(upload)) this.#tell(chipid);
  }

  onEmitted({ chipid }: FleetDevice, upload: Upload): void {
    // Each listener recovers on its own, so that an upload may come more than once.
    if (upload.timestamp >= (this.#devices.get(chipid)?.newest ?? -Infinity)) this.#judge(upload);
  }

  onHold({ chipid, holding }: FleetDevice): void {
    if (holding === 0) this.#tell(chipid);
  }

  onRecovered({ chipid, holding }: FleetDevice): void {
    if (holding === 0) this.#tell(chipid);
  }

  get #prefix(): string {
    return `event:${this.#deps.node}:`;
  }

  #mayEmit(chipid: string): boolean {
    return this.#deps.guard?.mayEmit(chipid) ?? true;
  }

  /** @returns whether something has changed */
  #judge({ chipid, timestamp, body, type }: Upload): boolean {
    // What comes in the transparent serial mode has no fields.
    if (type !== undefined) return false;
    const of = this.#deps.limitsOf(chipid);
    const state = this.#devices.get(chipid) ?? (of && new DeviceState());
    if (!state) return false;
    this.#devices.set(chipid, state);
    const fields = of?.decode(body) ?? {};
    const values = new Map<string, number>();
    for (const { field } of of?.limits ?? []) {
      const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
      // A sensor that fails is often NaN or infinite, which is neither across a limit nor back.
      if (typeof value === 'number' && Number.isFinite(value)) values.set(field, value);
    }
    const isChanged = state.judge(of?.limits ?? [], timestamp, values);
    if (isChanged) this.#deps.store.update(this.#prefix + chipid, state);
    return isChanged;
  }

  /** Reports what has changed since the last report, unless that is another process's to do. */
  #tell(chipid: string): void {
    const { registry, store } = this.#deps;
    const state = this.#mayEmit(chipid) ? this.#devices.get(chipid) : undefined;
    const changed = [...(state?.limits.values() ?? [])].filter(
      ({ alarm, told }) => !alarm !== !told,
    );
    if (!state || changed.length === 0) return;
    const events: [AlarmEvent, Alarm][] = [];
    for (const limit of changed) {
      const { alarm, told, last } = limit;
      if (alarm) events.push(['alarm', alarm]);
      else if (told) events.push(['cleared', { ...told, value: last ?? told.value }]);
      limit.told = alarm;
    }
    store.update(this.#prefix + chipid, state);
    registry.onAlarms(chipid, state.alarms, events);
  }
}
