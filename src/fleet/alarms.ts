import type { Keeping } from '../store/store';
import type { Upload } from '../types';
import { isObject } from '../util/object';
import type { FleetDevice } from './device';
import type { Alarm, AlarmEvent, Limit } from './limits';
import type { FleetRegistry, FleetWatcher } from './registry';

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
}

/** Live uploads of a device that wait for older ones, at most. */
const MOST_PENDING = 1000;

/** What an upload has in the fields that are limited. */
interface Sample {
  readonly at: number;
  readonly values: ReadonlyMap<string, number>;
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
  /** Live uploads that wait for older ones, which are read from the history. */
  readonly pending: Sample[] = [];
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

  /** @returns whether something has changed */
  judge(limits: readonly Limit[], { at, values }: Sample): boolean {
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

  close(): void {
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

  onLive(device: FleetDevice, upload: Upload): void {
    const { chipid, holding } = device;
    const sample = this.#sampleOf(upload);
    if (!sample) return;
    if (holding === 0) {
      if (this.#judge(chipid, sample)) this.#tell(chipid);
      return;
    }
    const { pending } = this.#stateOf(chipid);
    if (pending.push(sample) > MOST_PENDING) pending.shift();
  }

  onReplayed({ chipid }: FleetDevice, upload: Upload): void {
    // Each listener recovers on its own, so that an upload may come more than once.
    if (upload.timestamp < (this.#devices.get(chipid)?.newest ?? -Infinity)) return;
    const sample = this.#sampleOf(upload);
    if (sample) this.#judge(chipid, sample);
  }

  onHold({ chipid, holding }: FleetDevice): void {
    const state = this.#devices.get(chipid);
    if (!state || holding > 0) return;
    for (const sample of state.pending.splice(0)) this.#judge(chipid, sample);
    this.#tell(chipid);
  }

  onRecovered({ chipid, holding }: FleetDevice): void {
    if (holding === 0) this.#tell(chipid);
  }

  get #prefix(): string {
    return `event:${this.#deps.node}:`;
  }

  #stateOf(chipid: string): DeviceState {
    const state = this.#devices.get(chipid) ?? new DeviceState();
    this.#devices.set(chipid, state);
    return state;
  }

  /** Reads an upload at once, since a flow may change its body. @returns undefined if it is not judged */
  #sampleOf({ chipid, timestamp: at, body, type }: Upload): Sample | undefined {
    // What comes in the transparent serial mode has no fields.
    if (type !== undefined) return undefined;
    const of = this.#deps.limitsOf(chipid);
    if (!of) return this.#devices.has(chipid) ? { at, values: new Map() } : undefined;
    const fields = of.decode(body) ?? {};
    const values = new Map<string, number>();
    for (const { field } of of.limits) {
      const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
      // A sensor that fails is often NaN or infinite, which is neither across a limit nor back.
      if (typeof value === 'number' && Number.isFinite(value)) values.set(field, value);
    }
    return { at, values };
  }

  /** @returns whether something has changed */
  #judge(chipid: string, sample: Sample): boolean {
    const state = this.#stateOf(chipid);
    const isChanged = state.judge(this.#deps.limitsOf(chipid)?.limits ?? [], sample);
    if (isChanged) this.#deps.store.update(this.#prefix + chipid, state);
    return isChanged;
  }

  /** Reports what has changed since the last report. */
  #tell(chipid: string): void {
    const { registry, store } = this.#deps;
    const state = this.#devices.get(chipid);
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
