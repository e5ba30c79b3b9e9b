import type { NodeAPI } from 'node-red';
import {
  type ClientOptions,
  DeviceCloudClient,
  failedTest,
  type Fleet,
  invalidInput,
  keyWarnings,
  notConfigured,
  openChannels,
} from '../../src/index';
import { bodyOf } from '../common/admin';
import type { Api } from '../common/app';
import { isObject, isVariable, readText } from '../common/shared.config';
import { toChoices } from './answers';
import type { ApiResult, DeviceChoice, Refusal, TestResult } from './answers.config';
import type { AppCredentials } from './app.config';
import {
  deployedCredentials,
  findDeployed,
  isDeployedEndpoint,
  runningApps,
  type AppNode,
} from './deployed';
import { clientOptions, readSettings, type AppSettings } from './options';
import { optionsOf, withSimulator, type SharedSimulator } from './simulator';

/** Milliseconds the editor waits for a list, or for a call of a test. */
const TIMEOUT = 10_000;

/** What the editor sends to test an application: its settings as typed, and the node's id. */
type TestRequest = AppSettings & { id?: string };

const CREDENTIALS = ['appkey', 'serverKey', 'serverPassword'];

/**
 * Reads the body of a request for a test, which may come from anyone who is logged in.
 * @param body as parsed by Node-RED, `undefined` if it is not JSON
 * @throws DeviceCloudError `INVALID_INPUT`
 */
export function readTestRequest(body: unknown): TestRequest {
  const { id, credentials = {}, ...sent } = bodyOf(body, 'the settings as a JSON object');
  const { config, problem } = readSettings(sent);
  if (problem !== undefined) throw invalidInput(problem);
  if (id !== undefined && typeof id !== 'string') throw invalidInput('The id must be text.');
  if (!isObject(credentials)) throw invalidInput('The setting credentials must be an object.');
  const given = CREDENTIALS.filter((name) => credentials[name] !== undefined).map((name) => {
    const text = readText(credentials[name]);
    // Never its value.
    if (text === undefined) throw invalidInput(`The setting ${name} must be text.`);
    return [name, text] as const;
  });
  return {
    ...config,
    ...(id !== undefined && { id }),
    ...Object.fromEntries<string>(given),
  };
}

const TEXTS: Readonly<Record<Refusal['reason'], (settings: string) => string>> = {
  retype: (settings) =>
    `Type ${settings} again: stored credentials are used only against the address, TLS and proxy ` +
    'that they were deployed with.',
  variable: (settings) =>
    `An environment variable is named by ${settings}. Variables are read only for users who may ` +
    'change flows: type the value itself.',
  network: (settings) =>
    `The configuration chosen for ${settings} holds credentials of its own. Only users who may change flows ` +
    'may use it with another address than the deployed one.',
};

/** A refusal in English, for clients without a catalogue. */
const refusalText = ({ reason, settings }: Refusal): string => TEXTS[reason](settings.join(', '));

/** The settings to try, and the interfaces that must not be tried with them. */
interface TestSettings {
  /** Without the settings of a refused interface. */
  settings: AppSettings;
  node: AppNode | undefined;
  refused: Partial<Record<Api, Refusal>>;
  /** Whether an interface is asked for: its id or key is given, or stored and not typed anew. */
  wanted: Record<Api, boolean>;
}

/** The settings of each interface besides the address: its id, and the secret that belongs to it. */
const NEEDS: Readonly<Record<Api, readonly ('appid' | keyof AppCredentials)[]>> = {
  open: ['appid', 'appkey'],
  server: ['serverKey', 'serverPassword'],
};

/**
 * Decides what a test may use. A stored credential is used only against the address, TLS and proxy that
 * it was deployed with. A `${NAME}`, or a TLS or proxy configuration (which holds credentials of its own)
 * with another address, is used only for users who may write flows.
 * @param mayWriteFlows called only if the answer matters
 */
async function testSettings(
  RED: NodeAPI,
  request: TestRequest,
  mayWriteFlows: () => Promise<boolean>,
): Promise<TestSettings> {
  const { id, ...typed } = request;
  const deployed = findDeployed(RED, id);
  const isDeployed = deployed !== undefined && isDeployedEndpoint(typed, deployed);
  const stored = deployed ? deployedCredentials(RED, deployed) : {};
  const untyped = Object.entries(stored).filter(
    ([key, value]) => value !== '' && !Object.hasOwn(typed, key),
  );
  const withheld = isDeployed ? [] : untyped.map(([key]) => key);
  const used = isDeployed ? Object.fromEntries(untyped) : {};
  const settings: AppSettings = { ...used, ...typed };

  const networks = isDeployed ? [] : (['tls', 'proxy'] as const).filter((name) => typed[name]);
  const variables = (api: Api): string[] =>
    (['baseUrl', ...NEEDS[api]] as const).filter((name) => isVariable(settings[name]));
  const asksForMore = [...networks, ...variables('open'), ...variables('server')].length > 0;
  const isTrusted = !asksForMore || (await mayWriteFlows());

  const refusalOf = (api: Api): Refusal | undefined => {
    if (!isTrusted && networks.length > 0) return { reason: 'network', settings: networks };
    const named = isTrusted ? [] : variables(api);
    if (named.length > 0) return { reason: 'variable', settings: named };
    const lacking = NEEDS[api].filter((name) => withheld.includes(name));
    return lacking.length > 0 ? { reason: 'retype', settings: lacking } : undefined;
  };
  const refused: TestSettings['refused'] = {};
  for (const api of ['open', 'server'] as const) {
    const refusal = refusalOf(api);
    if (!refusal) continue;
    refused[api] = refusal;
    for (const name of NEEDS[api]) settings[name] = '';
  }
  const node = deployed?.node;
  // Exactly where they were deployed for, whatever a `${NAME}` means by now.
  if (isDeployed && node) {
    const { baseUrl, tls, proxy } = node.app.config;
    Object.assign(settings, { baseUrl, tls, proxy });
  }
  const wanted = {
    open: !!typed.appid,
    server: !!typed.serverKey || withheld.includes('serverKey'),
  };
  return { settings, node, refused, wanted };
}

const MISSING = 'Fill in the appid and the app key, or the key and the password of the server API.';

const refusalResult = (refusal: Refusal | undefined): ApiResult | undefined =>
  refusal && { ...failedTest(notConfigured(refusalText(refusal))), ...refusal };

const originOf = (baseUrl: string | undefined): string =>
  URL.canParse(baseUrl ?? '') ? new URL(baseUrl ?? '').origin : '';

/** The devices whose channels are open at a service, of all applications: two of them may be the same one there. */
const openAt = (baseUrl: string): string[] =>
  runningApps()
    .filter(({ app }) => originOf(app.config.baseUrl) === originOf(baseUrl))
    .flatMap(({ app }) => [...openChannels(app.fleet).keys()]);

/** Tries the interfaces whose keys are given, and then the channel. */
async function testClient(
  client: DeviceCloudClient,
  baseUrl: string,
  deployed: AppNode | undefined,
): Promise<TestResult> {
  // The records of devices have keys in them.
  const { devices: _, ...result } = await client.test({
    timeout: TIMEOUT,
    channels: openChannels(deployed?.app.fleet),
    used: new Set(openAt(baseUrl)),
  });
  return result;
}

/** Tries the simulator of this process, which all applications share, whatever they are set to otherwise. */
const testSimulator = (shared: SharedSimulator): Promise<TestResult> =>
  withSimulator(shared, async (simulator) => {
    const deployed = runningApps().find(({ app }) => app.isSimulated);
    await using client = new DeviceCloudClient(optionsOf(simulator));
    return await testClient(client, simulator.baseUrl, deployed);
  });

/** Whether the channel has the address and the keys of the node as deployed. */
function isDeployed(RED: NodeAPI, node: AppNode | undefined, tried: ClientOptions): boolean {
  const found = node && findDeployed(RED, node.id);
  if (!found) return false;
  const credentials = deployedCredentials(RED, found);
  const { options } = clientOptions(RED, node, { ...node.app.config, ...credentials });
  return (['baseUrl', 'appid', 'appkey'] as const).every((name) => options[name] === tried[name]);
}

async function testCloud(
  RED: NodeAPI,
  { settings, node, refused }: TestSettings,
): Promise<TestResult> {
  if (refused.open && refused.server) return { openApi: null, serverApi: null };
  const { options, unset } = clientOptions(RED, node, settings);
  let client: DeviceCloudClient;
  try {
    client = new DeviceCloudClient(options);
  } catch (error) {
    return { openApi: { ...failedTest(error), warnings: keyWarnings(options) }, serverApi: null };
  }
  try {
    const deployed = isDeployed(RED, node, options) ? node : undefined;
    const result: TestResult = await testClient(client, options.baseUrl, deployed);
    if (unset.open) result.openApi = failedTest(unset.open);
    if (unset.server) result.serverApi = failedTest(unset.server);
    return result;
  } finally {
    await client.close();
  }
}

/**
 * Tests the settings of an application as typed, before they are saved or deployed.
 * @param mayWriteFlows whether the user may change flows
 */
export async function testApp(
  RED: NodeAPI,
  simulator: SharedSimulator,
  request: TestRequest,
  mayWriteFlows: () => Promise<boolean>,
): Promise<TestResult> {
  if (request.service === 'simulator') return testSimulator(simulator);
  try {
    const allowed = await testSettings(RED, request, mayWriteFlows);
    const { refused, wanted } = allowed;
    const result = await testCloud(RED, allowed);
    if (wanted.open) result.openApi = refusalResult(refused.open) ?? result.openApi;
    if (wanted.server) result.serverApi = refusalResult(refused.server) ?? result.serverApi;
    if (!result.openApi && !result.serverApi) result.openApi = failedTest(notConfigured(MISSING));
    return result;
  } catch (error) {
    return { openApi: failedTest(error), serverApi: null };
  }
}

/** Lists the online devices. Names of the book come first, as everywhere. */
export async function listOf(client: DeviceCloudClient): Promise<DeviceChoice[]> {
  const { body } = await client.devices({ timeout: TIMEOUT });
  const nameOf = ({ chipid, name }: DeviceChoice) => client.fleet.name(chipid) ?? name;
  return toChoices(body, client).map((choice) => ({ ...choice, name: nameOf(choice) }));
}

async function listed(options: ClientOptions): Promise<UnsavedDevices> {
  await using client = new DeviceCloudClient(options);
  return { devices: await listOf(client) };
}

/** The online devices, and what else is known of devices where the settings are those that are deployed. */
interface UnsavedDevices {
  devices: DeviceChoice[];
  fleet?: Fleet | undefined;
}

/**
 * Lists the online devices of an application with settings that need not be deployed.
 * @param mayWriteFlows whether the user may change flows
 * @throws DeviceCloudError
 */
export async function unsavedDevices(
  RED: NodeAPI,
  simulator: SharedSimulator,
  request: TestRequest,
  mayWriteFlows: () => Promise<boolean>,
): Promise<UnsavedDevices> {
  if (request.service === 'simulator')
    return withSimulator(simulator, (started) => listed(optionsOf(started)));
  const { settings, node, refused } = await testSettings(RED, request, mayWriteFlows);
  if (refused.open) throw notConfigured(refusalText(refused.open));
  const { options, unset } = clientOptions(RED, node, settings);
  if (unset.open) throw unset.open;
  if (!node || !isDeployed(RED, node, options)) return listed(options);
  const devices = await node.app.borrow('open', listOf);
  return { devices, fleet: node.app.fleet };
}
