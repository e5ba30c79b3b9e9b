import { parseChipid } from '../../input/chipid';
import { MAX_WATCHED } from './watched-devices';

/** What is kept of one device: an array, since there may be 10,000. */
export type SavedDevice = readonly [
  chipid: string,
  online: boolean | null,
  since: number | null,
  silent: boolean,
  connected: boolean | null,
  name: string | null,
];

/** What is kept of a watch until the next start, as JSON. */
export interface SavedState {
  /** The application that it is about. */
  readonly appid: string;
  /** Whether devices that are not in it were offline. */
  readonly complete: boolean;
  /** Whether the list could not be read. */
  readonly unknown: boolean;
  readonly devices: readonly SavedDevice[];
}

const MAX_NAME = 200;

const boolOf = (value: unknown): boolean | null => (typeof value === 'boolean' ? value : null);

const timeOf = (value: unknown): number | null =>
  typeof value === 'number' && Number.isFinite(value) ? value : null;

/** Reads one device; undefined if it is invalid, since the state may have been edited, or be of another process. */
export function deviceOf(value: unknown): SavedDevice | undefined {
  if (!Array.isArray(value)) return undefined;
  const [chipid, online, since, silent, connected, name] = value as unknown[];
  try {
    const cut = typeof name === 'string' ? name.slice(0, MAX_NAME) : null;
    const digits = parseChipid(chipid);
    return [digits, boolOf(online), timeOf(since), silent === true, boolOf(connected), cut];
  } catch {
    return undefined;
  }
}

/** Reads what was kept of a watch; empty if it is of another application, or nothing that a watch has written. */
export function readState(value: unknown, appid: string): SavedState {
  const saved = (typeof value === 'object' && value !== null ? value : {}) as Partial<SavedState>;
  if (saved.appid !== appid || !Array.isArray(saved.devices)) {
    return { appid, complete: false, unknown: false, devices: [] };
  }
  const devices = (saved.devices as unknown[]).slice(0, MAX_WATCHED).flatMap((each) => {
    const device = deviceOf(each);
    return device ? [device] : [];
  });
  return { appid, complete: saved.complete === true, unknown: saved.unknown === true, devices };
}
