import { said, t } from './catalogue';

/** An online device, as the admin routes give it. */
export interface Device {
  chipid: string;
  name: string;
  /** When it was last seen alive. */
  latest: string;
}

/** The devices, or the reason why there are none to show. */
export type DeviceList = { devices: Device[] } | { reason: string };

/** Milliseconds a list is shown without being asked for again: a list is asked for at each key. */
const FRESH = 10_000;

/**
 * What a test in the config node's dialog found, by the id of the config node. Each node's editor
 * half is a script of its own, so they share it through the page.
 */
const SHARED = Symbol.for('device-cloud.tested-devices');
interface Shared {
  [SHARED]: Map<string, Device[]> | undefined;
}
const tested = ((globalThis as unknown as Shared)[SHARED] ??= new Map<string, Device[]>());

let last: { app: string; at: number; list: Promise<DeviceList> } | undefined;

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function text(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : '';
}

/** Reads the devices out of an admin route's answer. */
export function readDevices(value: unknown): Device[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map((device) => ({
    chipid: text(device['chipid']),
    name: text(device['name']),
    latest: text(device['latest']),
  }));
}

/** Keeps the devices that a test has found, for the time before the first deploy. */
export function rememberDevices(app: string, devices: Device[]): void {
  tested.set(app, devices);
  last = undefined;
}

/** Says in words what an admin route's `{code, message}` means; without one, by the HTTP status. */
function explain(error: unknown, status: number, forbidden: string): string {
  if (isRecord(error) && text(error['message']) !== '') {
    const key = text(error['code']).toLowerCase().replace(/_/g, '-');
    const headline = key === '' ? '' : t(`status.${key}`, { defaultValue: '' });
    return headline === '' ? text(error['message']) : said(headline, text(error['message']));
  }
  if (status === 401 || status === 403) return forbidden;
  return status === 404 ? t('common.picker.undeployed') : t('common.picker.unanswered');
}

/**
 * What an unsuccessful answer of an admin route says.
 * @param forbidden what to say to a user who has no permission for that route
 */
export function explainFailure(failure: unknown, forbidden: string): string {
  if (!isRecord(failure)) return explain(undefined, 0, forbidden);
  const body = failure['responseJSON'];
  return explain(isRecord(body) ? body['error'] : undefined, Number(failure['status']), forbidden);
}

/** The runtime does not know a node yet that has only been drawn. */
function isUndeployed(failure: unknown, changed: boolean): boolean {
  const body = isRecord(failure) ? failure['responseJSON'] : undefined;
  const error = isRecord(body) ? body['error'] : undefined;
  return changed && isRecord(error) && error['code'] === 'NOT_CONFIGURED';
}

async function ask(app: string, changed: boolean): Promise<DeviceList> {
  try {
    // Neither `/` nor `.` comes first, so that Node-RED adds its root and the bearer token.
    const answer: unknown = await $.getJSON(`device-cloud/apps/${encodeURIComponent(app)}/devices`);
    const list = isRecord(answer) && 'devices' in answer ? answer['devices'] : answer;
    return { devices: readDevices(list) };
  } catch (failure) {
    if (isUndeployed(failure, changed)) return { reason: t('common.picker.undeployed') };
    return { reason: explainFailure(failure, t('common.picker.forbidden')) };
  }
}

/** The online devices of a config node: of the deployed one, or as the last test has found them. */
export function onlineDevices(app: string): Promise<DeviceList> {
  const node = RED.nodes.node(app);
  if (!node) return Promise.resolve({ reason: t('common.picker.no-app') });
  const remembered = tested.get(app);
  if (remembered && node.changed) return Promise.resolve({ devices: remembered });
  if (last?.app !== app || Date.now() - last.at > FRESH) {
    last = { app, at: Date.now(), list: ask(app, node.changed ?? false) };
  }
  return last.list;
}
