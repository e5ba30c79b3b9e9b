import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NodeAPI } from 'node-red';
import {
  type DeviceCloudClient,
  DeviceCloudError,
  type Fleet,
  invalidInput,
  isDeviceCloudError,
  oneLine,
  parseChipid,
  parseChipids,
  parseFormat,
  parseKey,
  parseLevel,
  parsePin,
  readSelection,
  type TestRecorder,
  type WaitingSelection,
} from '../../src/index';
import {
  auditedRoute,
  bodyOf,
  forFlowReaders,
  mayReadFlows,
  readingRoute,
  statusOf,
} from '../common/admin';
import type { TriedUpload } from '../type/type.config';
import type { Handler } from '../common/register';
import { fleetAnswer, listText, readRevision, toDetails } from './answers';
import { bookRoute, writeBookRoute } from './book-routes';
import type { AppChoice, DeviceChoice } from './answers.config';
import { appNodeOf, findAppNode, nameOfApp, runningApps, savedId, type AppNode } from './deployed';
import { diagnose, problemsOf } from './diagnostics';
import { metricsText } from './metrics';
import type { SharedSimulator } from './simulator';
import { listOf, readTestRequest, testApp, unsavedDevices } from './test-connection';

/** Devices that are offered at most, beside those that are online. */
const MOST_OTHERS = 10_000;

/** Those online, those that are known or in the book beside them, and the groups of all, for the editor's own completion. */
function* withKnown(
  fleet: Fleet | undefined,
  online: readonly DeviceChoice[],
): Generator<DeviceChoice | undefined> {
  const book = fleet?.book;
  const withGroups = (each: DeviceChoice): DeviceChoice =>
    book ? { ...each, groups: [...(book.find(each.chipid)?.groups ?? [])] } : each;
  for (const each of online) yield withGroups(each);
  const listed = new Set(online.map(({ chipid }) => chipid));
  let others = 0;
  for (const { chipid, name } of fleet?.changesSince(0).devices ?? []) {
    const isOther = !listed.has(chipid);
    if (isOther && others++ === MOST_OTHERS) return;
    // One that is listed is a step, too: the event loop may turn between any two.
    yield isOther
      ? withGroups({ chipid, name, latest: '', age: null, vertype: 0, offline: true })
      : undefined;
  }
}

/** Reads device lists, one at a time for each application: even users who may only read can ask often. */
function deviceReader(RED: NodeAPI): (id: string) => Promise<DeviceChoice[]> {
  const reading = new Map<string, Promise<DeviceChoice[]>>();
  return (id) => {
    // Works for a config node that no other node uses, too.
    const read = () => appNodeOf(RED, id).app.borrow('open', listOf);
    const shared = reading.get(id) ?? read().finally(() => reading.delete(id));
    reading.set(id, shared);
    return shared;
  };
}

/** Sends JSON in pieces. It rejects if whoever has asked leaves before the end. */
function sendJson(response: Parameters<Handler>[1], pieces: AsyncGenerator<string>): Promise<void> {
  response.type('json');
  return pipeline(Readable.from(pieces), response);
}

/** Only our own editor asks for ages: the routes' answer is public, and has no more than it says. */
const publicly = ({ age: _age, ...device }: DeviceChoice): object => device;

function devicesRoute(RED: NodeAPI): Handler {
  const devicesOf = deviceReader(RED);
  return readingRoute(async (request, response) => {
    const id = String(request.params['id']);
    const fleet = findAppNode(RED, id)?.app.fleet;
    if ('names' in request.query) {
      // For the labels of nodes: the known names, without a call to the service.
      const known = fleet?.changesSince(0).devices ?? [];
      const names = listText(known, ({ chipid, name }) => ({ chipid, name }));
      await sendJson(response, names);
      return;
    }
    if ('groups' in request.query) {
      response.json(fleet?.book?.groups() ?? []);
      return;
    }
    const devices = await devicesOf(id);
    const pieces =
      'ages' in request.query
        ? listText(withKnown(findAppNode(RED, id)?.app.fleet, devices), (each) => each)
        : listText(devices, publicly);
    await sendJson(response, pieces);
  });
}

/** Lists the devices of an application that is not deployed, or not as it is typed. */
const unsavedDevicesRoute = (RED: NodeAPI, simulator: SharedSimulator): Handler =>
  auditedRoute(RED, {
    event: 'apps.devices',
    read: (body, _params, { query }) => ({
      settings: readTestRequest(body),
      ages: 'ages' in query,
    }),
    audited: ({ settings: { id } }) => ({ id }),
    async answer({ settings, ages }, mayWrite) {
      const found = await unsavedDevices(RED, simulator, settings, mayWrite);
      const { devices, fleet } = found;
      if (!ages) return devices.map(publicly);
      return [...withKnown(fleet, devices)].filter((each) => each !== undefined);
    },
  });

const testRoute = (RED: NodeAPI, simulator: SharedSimulator): Handler =>
  auditedRoute(RED, {
    event: 'apps.test',
    read: readTestRequest,
    audited: ({ id }) => ({ id }),
    answer: (settings, mayWrite) => testApp(RED, simulator, settings, mayWrite),
  });

/** Lists the applications. It starts nothing. */
const appsRoute = (RED: NodeAPI): Handler =>
  readingRoute((_request, response) => {
    const apps = runningApps().map((node): AppChoice => ({
      id: node.id,
      name: nameOfApp(RED, node),
      service: node.app.config.service,
      ...(savedId(node) !== node.id && { template: savedId(node) }),
      ...(node.app.fleet?.count() ?? { devices: 0, online: 0 }),
    }));
    response.json(apps);
  });

/** Shows the fleet of an application. It starts nothing that no node uses. */
const fleetRoute = (RED: NodeAPI): Handler =>
  readingRoute(async (request, response) => {
    const node = appNodeOf(RED, request.params['id']);
    node.app.viewFleet();
    const maySee = await mayReadFlows(RED, request);
    const since = readRevision(request.query['since']);
    const problems = maySee ? problemsOf(RED, node) : [];
    await sendJson(response, fleetAnswer(node, since, maySee, recordingOf(node), problems));
  });

/** Bytes of an upload that are shown to try a type. */
const MOST_BYTES = 4096;

function latestBytes(node: AppNode, chipid: string): TriedUpload | undefined {
  const body = node.app.fleet?.latest(chipid)?.body;
  return body && { hex: body.toString('hex', 0, MOST_BYTES), size: body.length };
}

/** Shows what a device did of late. It starts nothing. */
const detailsRoute = (RED: NodeAPI): Handler =>
  readingRoute(async (request, response) => {
    const node = appNodeOf(RED, request.params['id']);
    const maySee = await mayReadFlows(RED, request);
    const chipid = parseChipid(request.params['chipid']);
    const details = toDetails(node, chipid, maySee);
    if (!details)
      throw new DeviceCloudError('NO_VALUE', `Nothing is known of device ${chipid} yet.`);
    const waitingCommands = node.app.waiting?.list(chipid);
    const isAsked = maySee && 'upload' in request.query;
    // One that is undefined is left out of the JSON.
    const upload = isAsked ? latestBytes(node, chipid) : undefined;
    response.json({ ...details, waitingCommands, upload });
  });

/** Characters of a push. */
const LONGEST_MESSAGE = 65_536;

/** How much of a status is shown that the service's document does not show. */
const LONGEST_STATUS = 40;

/** Reads a request and makes the call, which gives what the editor says of its answer. @throws DeviceCloudError `INVALID_INPUT` before anything is sent */
type Action = (
  body: Record<string, unknown>,
  chipid: string,
) => (client: DeviceCloudClient) => Promise<object>;

const refresh: Action = (_body, chipid) => async (client) => {
  const status: unknown = (await client.refresh(chipid)).body.status;
  return { status: typeof status === 'string' ? oneLine(status, LONGEST_STATUS) : null };
};

const push: Action = ({ message, format = 'MSG' }, chipid) => {
  if (typeof message !== 'string' || message.length > LONGEST_MESSAGE) {
    throw invalidInput(`The message has to be text of at most ${LONGEST_MESSAGE} characters.`);
  }
  const checked = parseFormat(format);
  // What the device has answered is no answer of this route: it may hold anything.
  return (client) => client.push(chipid, message, { format: checked }).then(() => ({}));
};

const gpio: Action = (body, chipid) => {
  const pin = parsePin(body['pin']);
  const level = parseLevel(body['level']);
  return (client) => client.setGpioEdge(chipid, pin, level).then(() => ({}));
};

/** Characters of a value that are shown. */
const LONGEST_VALUE = 200;

const value: Action = (body, chipid) => {
  const key = parseKey(body['key']);
  return async (client) => {
    const found: unknown = (await client.rtStatus(chipid, key)).body;
    const text = typeof found === 'string' ? found : JSON.stringify(found);
    return { value: oneLine(text, LONGEST_VALUE) };
  };
};

const deviceRoute = (RED: NodeAPI, name: string, action: Action): Handler =>
  auditedRoute(RED, {
    event: `devices.${name}`,
    read(body, { id = '', chipid: number }) {
      const node = appNodeOf(RED, id);
      const sent = bodyOf(body);
      const chipid = parseChipid(number);
      return { id, chipid, node, call: action(sent, chipid) };
    },
    audited: ({ id, chipid }) => ({ id, chipid }),
    answer: async ({ node, call }) => ({ ok: true, ...(await node.app.borrow('open', call)) }),
  });

/** The last recording of each application, which may run. */
const recorders = new WeakMap<AppNode, TestRecorder>();

const recordingOf = (node: AppNode) => recorders.get(node)?.state;

/** Begins a recording, which keeps the client until it ends. */
const start = (node: AppNode, chipids: string[] | undefined): Promise<object> =>
  new Promise((resolve, reject) => {
    const record = (client: DeviceCloudClient): Promise<void> => {
      const recorder = client.recordTest(chipids);
      recorders.set(node, recorder);
      resolve({ ok: true, recording: recorder.state });
      return recorder.ended;
    };
    node.app.borrow('open', record).catch(reject);
  });

/** Ends a recording. @returns the test, as YAML */
function stop(node: AppNode): string {
  const recorder = recorders.get(node);
  if (!recorder) throw invalidInput('Nothing was recorded since the application was deployed.');
  recorder.end();
  return recorder.toYaml();
}

/** Records a test of the flows: what devices upload, and what the flows do. It is for users who may read both. */
const recordRoute = (RED: NodeAPI): Handler => {
  const handle = auditedRoute(RED, {
    event: 'apps.record',
    read(body, { id = '' }) {
      const node = appNodeOf(RED, id);
      const { action, chipids } = bodyOf(body);
      if (action !== 'start' && action !== 'stop')
        throw invalidInput('The action has to be "start" or "stop".');
      const devices = chipids === undefined || chipids === null ? undefined : parseChipids(chipids);
      return { id, node, action, chipids: devices };
    },
    audited: ({ id, action, chipids }) => ({ id, action, ...(chipids && { chipids }) }),
    answer: async ({ node, action, chipids }) =>
      action === 'start' ? start(node, chipids) : stop(node),
    failure: (error) =>
      isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED') ? 409 : statusOf(error),
  });
  return forFlowReaders(RED, handle);
};

/** Lists the commands of an application that wait for their devices. It starts nothing. */
const waitingRoute = (RED: NodeAPI): Handler =>
  readingRoute(({ params }, response) => {
    const commands = appNodeOf(RED, params['id']).app.waiting?.list() ?? [];
    const pieces = listText(commands, (each) => each);
    return sendJson(response, pieces);
  });

/** Ids that an audit line names; the others it counts. */
const MOST_AUDITED = 20;

/** The device is one, as a person chooses it: the client takes several. */
function selectionOf(body: unknown): WaitingSelection {
  const { chipid, ...others } = bodyOf(body);
  if (chipid !== undefined) parseChipid(chipid);
  const selection = chipid === undefined ? others : { ...others, chipids: [chipid] };
  readSelection(selection);
  return selection as WaitingSelection;
}

function auditedSelection(selection: WaitingSelection): object {
  if (!('ids' in selection) || selection.ids.length <= MOST_AUDITED) return selection;
  const { ids } = selection;
  return { ids: ids.slice(0, MOST_AUDITED), more: ids.length - MOST_AUDITED };
}

/** Cancels commands that wait: by their ids, by their device, or all. */
const cancelRoute = (RED: NodeAPI): Handler =>
  auditedRoute(RED, {
    event: 'waiting.cancel',
    read: (body, { id = '' }) => ({
      id,
      node: appNodeOf(RED, id),
      selection: selectionOf(body),
    }),
    audited: ({ id, selection }) => ({ id, ...auditedSelection(selection) }),
    async answer({ node, selection }) {
      return { ok: true, cancelled: (await node.app.waiting?.cancel(selection)) ?? 0 };
    },
  });

const diagnosticsRoute = (RED: NodeAPI): Handler =>
  readingRoute((_request, response) => response.json(diagnose(RED)));

/** What Prometheus reads. It starts nothing. */
const metricsRoute = (RED: NodeAPI): Handler =>
  readingRoute((_request, response) =>
    response.type('text/plain; version=0.0.4').send(metricsText(RED)),
  );

/** What answers the routes of the editor. */
export const appRoutes = (simulator: SharedSimulator) => (RED: NodeAPI) => ({
  devices: devicesRoute(RED),
  unsavedDevices: unsavedDevicesRoute(RED, simulator),
  test: testRoute(RED, simulator),
  apps: appsRoute(RED),
  fleet: fleetRoute(RED),
  details: detailsRoute(RED),
  diagnostics: diagnosticsRoute(RED),
  refresh: deviceRoute(RED, 'refresh', refresh),
  push: deviceRoute(RED, 'push', push),
  gpio: deviceRoute(RED, 'gpio', gpio),
  value: deviceRoute(RED, 'value', value),
  book: bookRoute(RED),
  writeBook: writeBookRoute(RED),
  waiting: waitingRoute(RED),
  cancel: cancelRoute(RED),
  metrics: metricsRoute(RED),
  record: recordRoute(RED),
});
