import { BOOK_TOPIC, isObject, variableName } from '../shared.config';
import { plain, said, t } from './texts';
import type { EditorNode, EditorNodeBase } from './red';
import { appPath, getRoute, postRoute } from './routes';

/** A device, as the admin routes give it. */
export interface Device {
  chipid: string;
  name: string;
  /** When it was last seen alive: as the service says it, in its own time zone. */
  latest: string;
  /** The same as Unix time in milliseconds, by the clock of this browser; undefined if that cannot be determined. */
  seen: number | undefined;
  isOffline: boolean;
  /** Its groups in the device book. */
  groups?: string;
}

/** Why something cannot be shown: in the reader's language, and in the service's words. */
export interface Problem {
  reason: string;
  detail?: string;
}

/** The devices, or why they cannot be shown. */
export type DeviceList = { devices: Device[] } | Problem;

/** Milliseconds a list is shown without being asked for again: a list is asked for at each key. */
const FRESH = 10_000;

/** What is known by the id of a config node. */
const newMemory = () => ({
  /** The last list of any kind. */
  seen: new Map<string, Device[]>(),
  /** Names by chip number, which a label may show. */
  names: new Map<string, Map<string, string>>(),
  asked: new Set<string>(),
});

/** Each node's editor half is a separate script, so what they know is shared through the page. */
const SHARED = Symbol.for('device-cloud.devices');
const page = globalThis as unknown as Record<symbol, ReturnType<typeof newMemory> | undefined>;
const isFirst = page[SHARED] === undefined;
const { seen, names, asked } = (page[SHARED] ??= newMemory());

/**
 * The application that a node names: inside a subflow it may be a property of the subflow, `${NAME}`, of which the default
 * counts, since each instance may have another one.
 * @returns its id; what the node names if nothing is known of that
 */
export function appOf(named: string): string {
  const name = variableName(named);
  if (name === undefined) return named;
  const flow = RED.workspaces.active();
  const { env } = RED.nodes.subflow(flow) ?? RED.nodes.workspace(flow) ?? {};
  return text(env?.find((each) => each.name === name)?.value) || named;
}

let last: { app: string; at: number; list: Promise<DeviceList> } | undefined;

// Another project, or another branch of it, may have an application of the same id with other devices.
RED.events.on('workspace:clear', () => {
  for (const known of [seen, names, asked]) known.clear();
  last = undefined;
});

const isString = (value: unknown): value is string => typeof value === 'string';

const text = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? String(value) : '';

/** Reads the devices out of an admin route's answer. */
function readDevices(value: unknown): Device[] {
  if (!Array.isArray(value)) return [];
  const now = Date.now();
  return value.filter(isObject).map((device): Device => ({
    chipid: text(device['chipid']),
    name: plain(text(device['name'])),
    latest: plain(text(device['latest'])),
    isOffline: device['offline'] === true,
    groups: Array.isArray(device['groups']) ? device['groups'].map(text).join(' ') : '',
    seen: typeof device['age'] === 'number' ? now - device['age'] * 1000 : undefined,
  }));
}

/** A list has arrived: labels show the names in it from now on. */
function see(app: string, devices: Device[]): void {
  seen.set(app, devices);
  rememberNames(app, devices);
}

/** Keeps names, and draws the labels again that show them. */
function rememberNames(app: string, devices: readonly Pick<Device, 'chipid' | 'name'>[]): void {
  const known = names.get(app) ?? new Map<string, string>();
  names.set(app, known);
  const news = devices.filter(({ chipid, name }) => name !== '' && known.get(chipid) !== name);
  if (news.length === 0) return;
  for (const { chipid, name } of news) known.set(chipid, name);
  RED.nodes.eachNode((node) => {
    if (appOf(text((node as EditorNode<{ app: string }>).app)) !== app) return;
    Object.assign(node, { dirty: true, resize: true });
  });
  RED.view.redraw();
}

/**
 * The name of a device, if one is known. The first time that a label wants one, the run time is asked for those that it
 * knows, which requests nothing of the service.
 */
export function nameIn(named: string, chipid: string): string | undefined {
  const app = appOf(named);
  const node = RED.nodes.node(app);
  if (node && !node.changed && !asked.has(app) && RED.user.hasPermission('device-cloud.read')) {
    readNames(app);
  }
  return names.get(app)?.get(chipid);
}

// Once for the page: each script would ask for the names.
if (isFirst) {
  RED.comms.subscribe(BOOK_TOPIC, (_topic, data) => {
    const id = isObject(data) ? text(data['id']) : '';
    if (asked.has(id)) readNames(id);
  });
}

/** Reads the names that the run time knows: the first time, and when the device book has changed. */
function readNames(app: string): void {
  asked.add(app);
  getRoute(`${appPath(app, 'devices')}?names`).then(
    (devices: unknown) => rememberNames(app, readDevices(devices)),
    // The number says which device it is, too.
    () => undefined,
  );
}

/** A device in the last list. It requests none: too many calls may reset devices (section 8). */
export function knownDevice(app: string, chipid: string): Device | undefined {
  return seen.get(appOf(app))?.find((device) => device.chipid === chipid);
}

/** Whether the last list is of this application and so new that its ages are right. */
export const isFresh = (app: string): boolean =>
  last?.app === appOf(app) && Date.now() - last.at <= FRESH;

/** The `{code, message}` of an unsuccessful answer of an admin route. */
function errorIn(failure: unknown): Record<string, unknown> | undefined {
  const body = isObject(failure) ? failure['responseJSON'] : undefined;
  const error = isObject(body) ? body['error'] : undefined;
  return isObject(error) ? error : undefined;
}

/**
 * Says why an admin route has not answered as it should: by the error of its answer or, without one, by the HTTP status.
 * @param permission the permission that the route needs
 */
export function explainFailure(
  failure: unknown,
  permission: 'device-cloud.read' | 'device-cloud.write',
): Problem {
  const error = errorIn(failure);
  const message = text(error?.['message']);
  if (message !== '') {
    const code = text(error?.['code']);
    // A code without a text is shown by its message.
    const words = code === '' ? '' : wordsFor(code);
    return words === '' ? { reason: message } : { reason: words, detail: detailOf(code, message) };
  }
  const status = isObject(failure) ? Number(failure['status']) : 0;
  // Node-RED answers 401 both to users without the permission and to users who are no longer logged in.
  if (status === 401 && RED.user.hasPermission(permission))
    return { reason: t('common.picker.expired') };
  if (status === 401 || status === 403) return { reason: t('common.forbidden', { permission }) };
  return { reason: t(status === 404 ? 'common.picker.undeployed' : 'common.picker.unanswered') };
}

/**
 * The details of an error for the reader, which begin with its code: that can be searched for. The message is in English:
 * in another language they are the service's own words, which the message quotes, and what to do about the code.
 */
export function detailOf(code: string, message: string): string {
  const advice = t(`common.advice.${code}`, { defaultValue: '' });
  if (advice === '' || RED.i18n.lang().startsWith('en'))
    return code === '' || message.startsWith(code) ? message : `${code}: ${message}`;
  const said = /"([^"]+)"/.exec(message)?.[1];
  const words = said === undefined ? '' : `${t('common.advice.said', { said })} `;
  return `${code}: ${words}${advice}`;
}

/** The service refuses a wrong App ID as it does a wrong key, with 401 or 404 (section 7). */
const wordsFor = (code: string): string =>
  ['UNAUTHORIZED', 'NOT_FOUND'].includes(code) ? t('common.picker.refused') : statusText(code);

/** The words with which a node's status shows an error; empty for an unknown code. */
export const statusText = (code: string): string =>
  t(`status.${code.toLowerCase().replace(/_/g, '-')}`, { defaultValue: '' });

/** The settings of an application as the editor has them, with the keys that were typed since the last deploy. */
function unsavedSettings(app: EditorNodeBase): object {
  const node = app as EditorNodeBase & Readonly<Record<string, unknown>>;
  const { credentials: typed } = node;
  const pick = (from: Readonly<Record<string, unknown>>, ...names: string[]): object =>
    Object.fromEntries(names.flatMap((name) => (isString(from[name]) ? [[name, from[name]]] : [])));
  return {
    ...pick(node, 'id', 'service', 'baseUrl', 'appid', 'timestampUnit', 'tls', 'proxy'),
    credentials: pick(isObject(typed) ? typed : {}, 'appkey', 'serverKey', 'serverPassword'),
  };
}

async function ask(app: string, node: EditorNodeBase): Promise<DeviceList> {
  try {
    const isUnsaved = node.changed === true && RED.user.hasPermission('device-cloud.write');
    const answer = isUnsaved
      ? postRoute('apps/devices?ages', unsavedSettings(node))
      : getRoute(`${appPath(app, 'devices')}?ages`);
    const devices = readDevices(await answer);
    see(app, devices);
    return { devices };
  } catch (failure) {
    // The runtime does not know a node yet that has only been drawn.
    if (node.changed && errorIn(failure)?.['code'] === 'NOT_CONFIGURED')
      return { reason: t('common.picker.undeployed') };
    const { reason, detail } = explainFailure(failure, 'device-cloud.read');
    if (detail === undefined) return { reason };
    return { reason: said(t('common.picker.unlisted'), reason), detail };
  }
}

/** The online devices of a config node, deployed or not. */
export function onlineDevices(named: string): Promise<DeviceList> {
  const app = appOf(named);
  const node = RED.nodes.node(app);
  if (!node) {
    const name = variableName(named);
    const reason =
      name === undefined ? t('common.picker.no-app') : t('common.picker.no-default', { name });
    return Promise.resolve({ reason });
  }
  if (!last || !isFresh(app)) last = { app, at: Date.now(), list: ask(app, node) };
  return last.list;
}
