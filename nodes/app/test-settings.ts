import type { NodeAPI } from 'node-red';
import { invalidInput } from '../../src/index';
import { bodyOf } from '../common/admin';
import type { Api } from '../common/app';
import { isObject, isVariable, readText } from '../common/shared.config';
import type { Refusal } from './answers.config';
import type { AppCredentials } from './app.config';
import { deployedCredentials, findDeployed, isDeployedEndpoint, type AppNode } from './deployed';
import { readSettings, type AppSettings } from './options';

/** What the editor sends to test an application: its settings as typed, and the node's id. */
export type TestRequest = AppSettings & { id?: string };

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
export const refusalText = ({ reason, settings }: Refusal): string =>
  TEXTS[reason](settings.join(', '));

/** The settings to try, and the interfaces that must not be tried with them. */
export interface TestSettings {
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
export async function testSettings(
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
