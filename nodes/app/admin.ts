import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { NodeAPI } from 'node-red';
import { DeviceCloudError, type DeviceCloudClient } from '../../src/index';
import { invalidInput, oneLine, parseChipid, parseFormat } from '../../src/input';
import { auditedRoute, bodyOf, mayReadFlows, mayWriteFlows, readingRoute } from '../common/admin';
import { findApp } from '../common/app';
import { toProblem } from '../common/errors';
import type { TriedUpload } from '../type/type.config';
import type { Handler, Handlers } from '../common/register';
import { fleetAnswer, listText, readRevision, toChoices, toDetails } from './answers';
import { bookRoute, writeBookRoute } from './book-routes';
import type { ApiResult, AppChoice, DeviceChoice, TestResult } from './answers.config';
import {
  addressHider,
  appNodeOf,
  findAppNode,
  runningApps,
  serviceOf,
  type AppNode,
  type RunningApp,
} from './deployed';
import { diagnose } from './diagnostics';
import { explainRoute } from './explain';
import { downloadRoute, recordingsRoute, recordRoute } from './recording-routes';
import type { SharedSimulator } from './simulator';
import { testApp } from './test-app';
import { cancelRoute, waitingRoute } from './waiting-routes';
import { readTestRequest } from './test-settings';

/** Milliseconds the editor waits for a list or a test. */
const TIMEOUT = 10_000;

async function readDevices(RED: NodeAPI, id: string): Promise<DeviceChoice[]> {
  // Works for a config node that no other node uses, too.
  const app = findApp(RED, id);
  return app.borrow('open', async (client) => {
    const { body } = await client.devices({ timeout: TIMEOUT });
    return toChoices(body, client).map((choice) => named(choice, client));
  });
}

/** Names of the book come first, as everywhere. */
const named = (choice: DeviceChoice, { fleet }: DeviceCloudClient): DeviceChoice => ({
  ...choice,
  name: fleet.name(choice.chipid) ?? choice.name,
});

/** Devices that are offered at most, beside those that are online. */
const MOST_OTHERS = 10_000;

/** The devices that are known or in the book, and not online, and the groups of all, for the editor's own completion. */
function withKnown(RED: NodeAPI, id: string, online: readonly DeviceChoice[]): DeviceChoice[] {
  const fleet = findAppNode(RED, id)?.fleet();
  if (!fleet) return [...online];
  const listed = new Set(online.map(({ chipid }) => chipid));
  const others: DeviceChoice[] = [];
  for (const { chipid, name } of fleet.streamChanges(0).devices) {
    if (others.length >= MOST_OTHERS) break;
    if (!listed.has(chipid))
      others.push({ chipid, name, latest: '', age: null, vertype: 0, offline: true });
  }
  const all = [...online, ...others];
  const { book } = fleet;
  return book ? all.map((each) => ({ ...each, groups: [...book.groupsOf(each.chipid)] })) : all;
}

/** Reads device lists, one at a time for each application: even users who may only read can ask often. */
function deviceReader(RED: NodeAPI): (id: string) => Promise<DeviceChoice[]> {
  const reading = new Map<string, Promise<DeviceChoice[]>>();
  return (id) => {
    const shared = reading.get(id) ?? readDevices(RED, id).finally(() => reading.delete(id));
    reading.set(id, shared);
    return shared;
  };
}

/** A problem in which `${NAME}` replaces the addresses that it contains, unless the user may see them. */
async function readableProblem(
  RED: NodeAPI,
  id: string,
  error: unknown,
  maySeeVariables: () => Promise<boolean>,
): Promise<ReturnType<typeof toProblem>> {
  const problem = toProblem(error);
  const hide = await addressHider(RED, id, maySeeVariables);
  return { ...problem, message: hide(problem.message) };
}

/** The same for the result of a test. */
async function readableResult(
  RED: NodeAPI,
  id: string | undefined,
  result: TestResult,
  maySeeVariables: () => Promise<boolean>,
): Promise<TestResult> {
  const hide = await addressHider(RED, id, maySeeVariables);
  const readable = (found: ApiResult | null): ApiResult | null => {
    if (found?.message === undefined) return found;
    const { explanation } = found;
    const shown = explanation && {
      ...explanation,
      curl: hide(explanation.curl),
      powershell: hide(explanation.powershell),
    };
    return { ...found, message: hide(found.message), ...(shown ? { explanation: shown } : {}) };
  };
  const { openApi, serverApi } = result;
  return { ...result, openApi: readable(openApi), serverApi: readable(serverApi) };
}

/** Sends JSON in pieces. It rejects if whoever has asked leaves before the end. */
function sendJson(response: Parameters<Handler>[1], pieces: AsyncGenerator<string>): Promise<void> {
  response.type('json');
  return pipeline(Readable.from(pieces), response);
}

/** Lists the online devices of an application. */
function devicesRoute(RED: NodeAPI): Handler {
  const devicesOf = deviceReader(RED);
  return (request, response) => {
    const id = String(request.params['id']);
    if ('names' in request.query) {
      // For the labels of nodes: the known names, without a call to the service.
      const known = findAppNode(RED, id)?.fleet()?.streamChanges(0).devices ?? [];
      const names = listText(known, ({ chipid, name }) => ({ chipid, name }));
      sendJson(response, names).catch(() => undefined);
      return;
    }
    if ('groups' in request.query) {
      response.json(findAppNode(RED, id)?.fleet()?.book?.groups() ?? []);
      return;
    }
    devicesOf(id)
      .then(
        (devices) => {
          // Only our own editor asks for ages: the route's answer is public, and has no more than it says.
          if ('ages' in request.query) response.json(withKnown(RED, id, devices));
          else response.json(devices.map(({ age: _age, ...device }) => device));
        },
        async (error: unknown) => {
          const may = (): Promise<boolean> => mayWriteFlows(RED, request);
          response.status(502).json({ error: await readableProblem(RED, id, error, may) });
        },
      )
      .catch((error: unknown) => response.status(500).json({ error: toProblem(error) }));
  };
}

/** Tries unsaved settings. */
const testRoute = (RED: NodeAPI, simulator: SharedSimulator): Handler =>
  auditedRoute(RED, {
    event: 'apps.test',
    read: readTestRequest,
    audited: ({ id }) => ({ id }),
    async answer(settings, mayWrite) {
      const deps = { simulator, mayWriteFlows: mayWrite, timeout: TIMEOUT };
      return readableResult(RED, settings.id, await testApp(RED, settings, deps), mayWrite);
    },
  });

function toAppChoice({ saved, node }: RunningApp): AppChoice {
  return {
    id: saved.id,
    name: saved.name ?? '',
    service: serviceOf(saved),
    ...(node.fleet()?.count() ?? { devices: 0, online: 0 }),
  };
}

/** Lists the applications. It starts nothing. */
const appsRoute =
  (RED: NodeAPI): Handler =>
  (_request, response) => {
    response.json(runningApps(RED).map(toAppChoice));
  };

/** Shows the fleet of an application. It starts nothing that no node uses. */
const fleetRoute = (RED: NodeAPI): Handler =>
  readingRoute(async (request, response) => {
    const node = appNodeOf(RED, request.params['id']);
    node.viewFleet();
    // Only a cluster has to be asked first.
    await node.processes?.read();
    const pieces = fleetAnswer(readRevision(request.query['since']), {
      fleet: node.fleet(),
      charset: (await mayReadFlows(RED, request)) ? node.charset : undefined,
      processes: node.processes,
      hider: () => addressHider(RED, node.id, () => mayWriteFlows(RED, request)),
    });
    await sendJson(response, pieces);
  });

/** Bytes of an upload that are shown to try a type. */
const MOST_BYTES = 4096;

/** The latest upload of a device, to try a type. */
async function latestBytes(node: AppNode, chipid: string): Promise<TriedUpload | undefined> {
  const latest = await node.fleet()?.findLatest(chipid);
  if (!latest) return undefined;
  const { body } = latest;
  return { hex: body.toString('hex', 0, MOST_BYTES), size: body.length };
}

/** Shows what a device did of late. It starts nothing. */
const detailsRoute = (RED: NodeAPI): Handler =>
  readingRoute(async (request, response) => {
    const node = appNodeOf(RED, request.params['id']);
    const maySee = await mayReadFlows(RED, request);
    const hide = await addressHider(RED, node.id, () => mayWriteFlows(RED, request));
    const chipid = parseChipid(request.params['chipid']);
    const details = toDetails(node, chipid, maySee, hide);
    const waitingCommands = await node.waiting()?.list(chipid);
    const upload =
      maySee && 'upload' in request.query ? await latestBytes(node, chipid) : undefined;
    if (!details)
      throw new DeviceCloudError('NO_VALUE', `Nothing is known of device ${chipid} yet.`);
    response.json({ ...details, waitingCommands, ...(upload ? { upload } : {}) });
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

const statusOf = (error: unknown): number => {
  if (!(error instanceof DeviceCloudError)) return 500;
  return error.code === 'INVALID_INPUT' ? 400 : 502;
};

/** A command of the editor to a device. */
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
    answer: async ({ node, call }) => ({ ok: true, ...(await node.borrow('open', call)) }),
    async failure(error, { id }, mayWrite) {
      const { message } = await readableProblem(RED, id, error, mayWrite);
      return [statusOf(error), message];
    },
  });

/** What the editor copies for an issue. */
const diagnosticsRoute = (RED: NodeAPI): Handler =>
  readingRoute(async (_request, response) => response.json(await diagnose(RED)));

type Name =
  | ('apps' | 'devices' | 'fleet' | 'details' | 'diagnostics' | 'test' | 'explain')
  | ('refresh' | 'push' | 'book' | 'writeBook' | 'waiting' | 'cancel')
  | ('record' | 'recordings' | 'download');

/** What answers the routes of the editor. */
export const appRoutes =
  (simulator: SharedSimulator) =>
  (RED: NodeAPI): Handlers<Name> => ({
    devices: devicesRoute(RED),
    test: testRoute(RED, simulator),
    explain: explainRoute(RED),
    apps: appsRoute(RED),
    fleet: fleetRoute(RED),
    details: detailsRoute(RED),
    diagnostics: diagnosticsRoute(RED),
    refresh: deviceRoute(RED, 'refresh', refresh),
    push: deviceRoute(RED, 'push', push),
    book: bookRoute(RED),
    writeBook: writeBookRoute(RED),
    waiting: waitingRoute(RED),
    cancel: cancelRoute(RED),
    record: recordRoute(RED),
    recordings: recordingsRoute(RED),
    download: downloadRoute(RED),
  });
