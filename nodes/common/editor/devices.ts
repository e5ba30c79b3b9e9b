import { BOOK_TOPIC, isObject, readText, variableName } from '../shared.config';
import { plain, said, t } from './texts';
import type { EditorNode, EditorNodeBase } from './red';
import { appPath, errorIn, explainFailure, getRoute, postRoute, type Problem } from './routes';

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

/** The devices, or why they cannot be shown. */
export type DeviceList = { devices: Device[] } | Problem;

/** A group of the device book. */
interface Group {
  name: string;
  count: number;
}

/** What is known of an application. */
interface Known {
  /** The last list of any kind. */
  devices: readonly Device[];
  /** By chip number, which a label may show. */
  readonly names: Map<string, string>;
  /** Whether the run time was asked for names. */
  isAsked: boolean;
}

/** Each node's editor half is a separate script, so what they know is shared through the page. */
const SHARED = Symbol.for('device-cloud.devices');
const page = globalThis as unknown as Record<symbol, Map<string, Known> | undefined>;
const isFirst = page[SHARED] === undefined;
const apps = (page[SHARED] ??= new Map<string, Known>());

function knownOf(app: string): Known {
  const known = apps.get(app) ?? { devices: [], names: new Map(), isAsked: false };
  apps.set(app, known);
  return known;
}

/**
 * The application that a node names: inside a subflow it may be a property of the subflow, `${NAME}`, of which the default
 * counts, since each instance may have another one.
 * @returns its id; what the node names if nothing is known of that
 */
function appOf(named: string): string {
  const name = variableName(named);
  if (name === undefined) return named;
  const flow = RED.workspaces.active();
  const { env } = RED.nodes.subflow(flow) ?? RED.nodes.workspace(flow) ?? {};
  return text(env?.find((each) => each.name === name)?.value) || named;
}

/** Milliseconds for which an answer is not asked for again: a list is asked for at each key. */
const FRESH = 10_000;

/** What was asked last. */
interface Asked<T> {
  readonly app: string;
  readonly at: number;
  readonly answer: Promise<T>;
}
let lastList: Asked<DeviceList> | undefined;
let lastGroups: Asked<Group[] | undefined> | undefined;

const isRecent = <T>(last: Asked<T> | undefined, app: string): last is Asked<T> =>
  last?.app === app && Date.now() - last.at <= FRESH;

// Another project, or another branch of it, may have an application of the same id with other devices.
RED.events.on('workspace:clear', () => {
  apps.clear();
  lastList = undefined;
});

const text = (value: unknown): string => readText(value) ?? '';

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

/** Keeps names, and draws the labels again that show them. */
function rememberNames(app: string, devices: readonly Pick<Device, 'chipid' | 'name'>[]): void {
  const { names } = knownOf(app);
  const news = devices.filter(({ chipid, name }) => name !== '' && names.get(chipid) !== name);
  if (news.length === 0) return;
  for (const { chipid, name } of news) names.set(chipid, name);
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
  const { isAsked, names } = knownOf(app);
  if (node && !node.changed && !isAsked && RED.user.hasPermission('device-cloud.read'))
    readNames(app);
  return names.get(chipid);
}

// Once for the page: each script would ask for the names.
if (isFirst)
  RED.comms.subscribe(BOOK_TOPIC, (_topic, data) => {
    const id = isObject(data) ? text(data['id']) : '';
    if (apps.get(id)?.isAsked) readNames(id);
  });

/** Reads the names that the run time knows: the first time, and when the device book has changed. */
function readNames(app: string): void {
  knownOf(app).isAsked = true;
  getRoute(`${appPath(app, 'devices')}?names`).then(
    (devices: unknown) => rememberNames(app, readDevices(devices)),
    // The number says which device it is, too.
    () => undefined,
  );
}

/** A device in the last list. It requests none: too many calls may reset devices (section 8). */
export function knownDevice(app: string, chipid: string): Device | undefined {
  return apps.get(appOf(app))?.devices.find((device) => device.chipid === chipid);
}

/** Whether the last list is of this application and so new that its ages are right. */
export const isFresh = (app: string): boolean => isRecent(lastList, appOf(app));

/** The settings of an application as the editor has them, with the keys that were typed since the last deploy. */
function unsavedSettings(app: EditorNodeBase): object {
  const node = app as EditorNodeBase & Readonly<Record<string, unknown>>;
  const { credentials: typed } = node;
  const pick = (from: Readonly<Record<string, unknown>>, ...names: string[]): object =>
    Object.fromEntries(
      names.flatMap((name) => (typeof from[name] === 'string' ? [[name, from[name]]] : [])),
    );
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
    // Labels show the names in it from now on.
    knownOf(app).devices = devices;
    rememberNames(app, devices);
    return { devices };
  } catch (failure) {
    // The runtime does not know a node yet that has only been drawn.
    if (node.changed && errorIn(failure).code === 'NOT_CONFIGURED')
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
  if (!isRecent(lastList, app)) lastList = { app, at: Date.now(), answer: ask(app, node) };
  return lastList.answer;
}

/** The groups of an application's book; undefined if they are not known. */
export function groupsOf(named: string): Promise<Group[] | undefined> {
  const app = appOf(named);
  if (!isRecent(lastGroups, app)) {
    const asked = async (): Promise<Group[]> =>
      (await getRoute(`${appPath(app, 'devices')}?groups`)) as Group[];
    // An application that is not deployed yet has no groups to offer.
    lastGroups = { app, at: Date.now(), answer: asked().catch(() => undefined) };
  }
  return lastGroups.answer;
}
