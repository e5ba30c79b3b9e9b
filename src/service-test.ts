import { signedAppText, signedServerText, type SignedText } from './protocol/signing';
import type { Application } from './application';
import type { ChannelListener } from './channel/listener';
import type { CloudClient } from './cloud-client';
import { DeviceCloudError, isDeviceCloudError } from './errors';
import type { DeviceSnapshot } from './fleet/devices';
import type { Fleet } from './fleet/fleet';
import { sortList } from './fleet/list-poller';
import { keyWarnings, type KeyWarning } from './protocol/pasted-key';
import type { ClientOptions } from './settings';
import type { DeviceRecord } from './types';

/** What may be wrong if a request is refused. */
export type Cause = 'blank' | 'capitals' | 'key' | 'appid' | 'clock';

/** What is wrong with an address, or with the certificate of what answers there. */
export type Problem = ('not-a-cloud' | 'needs-https') | ('self-signed' | 'another-host');

/** Whether a service answers as the service's document says, or as the public server of 2016. */
export type Dialect = 'document' | 'public';

/** What the test of an interface found. */
export interface ApiTest {
  ok: boolean;
  /** Of what went wrong: see {@link DeviceCloudError}. */
  code?: string;
  message?: string;
  problem?: Problem;
  /** Of a refused request: what may be wrong, the likeliest first. */
  causes?: Cause[];
  /** As which of the two the service answers. */
  dialect?: Dialect;
  /** Of a key that does not work: what looks wrong about it. */
  warnings?: KeyWarning[];
  /** Of a refused request: how it was signed. */
  signing?: SignedText;
  /** The application's name. */
  name?: string;
  /** How many devices are online. */
  online?: number;
  /** Milliseconds that the service's clock is ahead of this machine's. */
  clockSkew?: number;
}

/** What the test of the channel found. */
export type ChannelTest =
  /** `open`: a channel in use is connected. */
  | { ok: true; chipid: string; open: boolean }
  /** @property reason as the snapshot of a device has it, or `TIMEOUT` */
  | { ok: false; chipid: string; reason: string }
  /** Not tried: no device is online, or the channels of all of them are in use. */
  | { ok: null; why: 'offline' | 'used' };

/** What a test of the service found; `null` for an interface whose keys are not set. */
export interface ServiceTest {
  /** Interface B (section 4.2). */
  openApi: ApiTest | null;
  /** Interface A (section 4.1). */
  serverApi: ApiTest | null;
  /** Of the open API's key, if it is accepted. */
  channel?: ChannelTest;
  /** The records of the online devices, with their keys, if the open API has answered. */
  devices?: DeviceRecord[];
}

type Channel = NonNullable<DeviceSnapshot['channel']>;

/** How a service is tested. */
export interface TestOptions {
  /** Milliseconds for each call, default that of the client. */
  timeout?: number;
  /** Channels of another client with the same address and keys, which show the same as one that would be opened. */
  channels?: ReadonlyMap<string, Channel>;
  /** Devices of which no channel is opened, since a service may close one when a newer one of its device opens. */
  used?: ReadonlySet<string>;
}

/** A client that is tested. */
type TestedClient = CloudClient & {
  listen(chipid: string, listener: ChannelListener): { release(): void };
};

/** What is tested. */
interface Tested {
  client: TestedClient;
  options: ClientOptions;
  /** Makes a client with other options. */
  make: (options: ClientOptions) => TestedClient;
  limits: { timeout: number };
}

type Api = 'open' | 'server';

/** The channels that a client has open. */
export function openChannels(fleet: Fleet | undefined): Map<string, Channel> {
  const open = new Map<string, Channel>();
  for (const { chipid, channel } of fleet?.snapshot() ?? []) if (channel) open.set(chipid, channel);
  return open;
}

/** An error as a result says it. */
export const failedTest = (error: unknown): ApiTest =>
  error instanceof DeviceCloudError
    ? { ok: false, code: error.code, message: error.message }
    : { ok: false, code: 'ERROR', message: error instanceof Error ? error.message : String(error) };

const skewOf = ({ clockSkew }: TestedClient): { clockSkew?: number } =>
  clockSkew === undefined ? {} : { clockSkew };

/** Which address the list has; undefined if neither answers. */
async function dialectOf({ client, limits }: Tested): Promise<Dialect | undefined> {
  await client.devices(limits).catch(() => undefined);
  const { listPath } = client;
  if (listPath === undefined) return undefined;
  return listPath === 'devices/list/' ? 'document' : 'public';
}

/** Whether the open API accepts another app key. */
async function accepts({ options, make, limits }: Tested, appkey: string): Promise<boolean> {
  await using client = make({ ...options, appkey });
  return await client.app(limits).then(
    () => true,
    () => false,
  );
}

async function testOpenApi(tested: Tested): Promise<{ result: ApiTest; devices?: DeviceRecord[] }> {
  const { client, options, limits } = tested;
  try {
    const { body } = await client.app(limits);
    const dialect = await dialectOf(tested);
    const online = body.online.length;
    const result = { ok: true, name: body.name, online, ...skewOf(client) };
    return { result: { ...result, ...(dialect && { dialect }) }, devices: body.online };
  } catch (error) {
    const help = await helpWith(error, tested, {
      api: 'open',
      signing: signedAppText(originOf(options), client.appid ?? '', Date.now()),
      warnings: keyWarnings({ appid: options.appid, appkey: options.appkey }),
    });
    return { result: { ...failedTest(error), ...skewOf(client), ...help } };
  }
}

const notAList = (): DeviceCloudError =>
  new DeviceCloudError(
    'INVALID_RESPONSE',
    "Listing the server API's devices was answered with success, but not with a list in JSON. " +
      "Check that the address is the service's, and no proxy or portal answers in its place.",
  );

async function testServerApi(tested: Tested): Promise<ApiTest> {
  const { client, options, limits } = tested;
  try {
    const { body } = await client.serverDevices({ page: 1, count: 1 }, limits);
    // The result is JSON (section 4.1); a portal that answers in the service's place sends text.
    const isResult = typeof body === 'object' && body !== null;
    const portal = { ...failedTest(notAList()), problem: 'not-a-cloud' as const };
    return { ...(isResult ? { ok: true } : portal), ...skewOf(client) };
  } catch (error) {
    const { serverKey, serverPassword } = options;
    const help = await helpWith(error, tested, {
      api: 'server',
      signing: signedServerText(originOf(options), Date.now()),
      warnings: keyWarnings({ serverKey, serverPassword }),
    });
    return { ...failedTest(error), ...skewOf(client), ...help };
  }
}

/** Of an address that the client has accepted. */
const originOf = ({ baseUrl }: ClientOptions): string => new URL(baseUrl).origin;

/** Opens the channel of a device, and closes it once that is decided. */
function openChannel(client: TestedClient, chipid: string, timeout: number): Promise<ChannelTest> {
  return new Promise((resolve) => {
    const end = (result: ChannelTest): void => {
      clearTimeout(timer);
      resolve(result);
      subscription.release();
    };
    // Its state changes later, never while it is joined.
    const subscription = client.listen(chipid, {
      onState(state, reason) {
        if (state === 'connected') end({ ok: true, chipid, open: false });
        if (state === 'disconnected') end({ ok: false, chipid, reason: reason ?? 'closed' });
      },
    });
    const timer = setTimeout(() => end({ ok: false, chipid, reason: 'TIMEOUT' }), timeout);
  });
}

/** Tries the channel (section 4.3): one that is open, or that of the first online device whose channel nobody uses. */
async function testChannel(
  client: TestedClient,
  online: readonly string[],
  timeout: number,
  channels: ReadonlyMap<string, Channel>,
  used: ReadonlySet<string>,
): Promise<ChannelTest> {
  const open = Array.from(channels);
  const connected = open.find(([, { state }]) => state === 'connected');
  if (connected) return { ok: true, chipid: connected[0], open: true };
  const free = online.find((chipid) => !used.has(chipid) && !channels.has(chipid));
  if (free !== undefined) return openChannel(client, free, timeout);
  const down = open.find(([, { reason }]) => reason !== null);
  if (down) return { ok: false, chipid: down[0], reason: down[1].reason ?? '' };
  return { ok: null, why: online.length > 0 ? 'used' : 'offline' };
}

/**
 * Tries interfaces A and B, those whose keys are set, and then the channel.
 * @param make makes a client with other options
 */
export async function testService(
  client: TestedClient,
  application: Pick<Application, 'options' | 'settings'>,
  make: (options: ClientOptions) => TestedClient,
  { channels = openChannels(client.fleet), used = new Set(), ...given }: TestOptions,
): Promise<ServiceTest> {
  const { openApi, serverApi, timeout } = application.settings;
  // The book and its watcher are of no use to a client of one call.
  const { book: _, ...options } = application.options;
  const limits = { timeout: given.timeout ?? timeout };
  const tested = { client, options, make, limits };
  const [open, server] = await Promise.all([
    openApi && testOpenApi(tested),
    serverApi ? testServerApi(tested) : null,
  ]);
  const result = { openApi: open?.result ?? null, serverApi: server };
  if (!open?.devices) return result;
  const { devices } = open;
  const online = [...sortList(devices).devices.keys()];
  const channel = await testChannel(client, online, limits.timeout, channels, used);
  return { ...result, channel, devices };
}

/**
 * What a service says is wrong. The document's statuses, 401 and 404, name no cause; the public server of 2016
 * says 400 with one of the Chinese texts. Of an unknown application the document (section 7) has a text.
 */
const SAID: readonly (readonly [said: RegExp, cause: Cause])[] = [
  [/签名(?:不正确|错误)/, 'key'],
  [/设备类别|no such application|application[\w ]* does not exist/i, 'appid'],
  [/时间间隔/, 'clock'],
];

/** A difference from which on a service refuses, in ms: section 5.1, and the public server of 2016. */
const CLOCK_LIMIT: Readonly<Record<Api, number>> = { open: 3_600_000, server: 7_200_000 };
/** A smaller difference may be the round trip. */
const CLOCK_NOISE = 5000;

const hasCapitals = (key: unknown): key is string => typeof key === 'string' && /[A-Z]/.test(key);

/** The causes that are left once the key looks right, the likeliest first. */
function causesOf(error: unknown, api: Api, clockSkew = 0): Cause[] {
  const off = Math.abs(clockSkew);
  const clock: Cause[] = off >= CLOCK_NOISE ? ['clock'] : [];
  // Section 7: an unknown application is 404.
  const isUnknown = isDeviceCloudError(error, 'NOT_FOUND');
  // It may as well be another address, which the error says.
  if (api === 'server' && isUnknown) return [];
  if (api === 'server') return off > CLOCK_LIMIT.server ? ['clock', 'key'] : ['key', ...clock];
  const keys: Cause[] = isUnknown ? ['appid', 'key'] : ['key', 'appid'];
  return off > CLOCK_LIMIT.open && !isUnknown ? ['clock', ...keys] : [...keys, ...clock];
}

/** What an error of Node.js says about a certificate. */
const CERTIFICATES: readonly (readonly [code: RegExp, problem: Problem])[] = [
  [/\((?:DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)\)/, 'self-signed'],
  [/\(ERR_TLS_CERT_ALTNAME_INVALID\)/, 'another-host'],
];

/** Whether something with TLS answers at an address that is given without. It gets no key and no sign of a key. */
async function speaksTls({ options, make }: Tested): Promise<boolean> {
  const baseUrl = options.baseUrl.replace(/^http:/, 'https:');
  if (baseUrl === options.baseUrl) return false;
  const probe = { baseUrl, appid: 1, appkey: 'none', tls: { rejectUnauthorized: false } };
  const { proxy } = options;
  await using client = make({ ...probe, ...(proxy === undefined ? {} : { proxy }) });
  return await client.app({ timeout: 3000 }).then(
    () => true,
    (error: unknown) => !isDeviceCloudError(error, 'UNREACHABLE', 'TIMEOUT', 'CONNECTION_LOST'),
  );
}

/** What is wrong with the address, rather than with the keys. */
async function problemOf(error: unknown, api: Api, tested: Tested): Promise<Problem | undefined> {
  const text = error instanceof Error ? error.message : '';
  if (isDeviceCloudError(error, 'UNREACHABLE'))
    return CERTIFICATES.find(([code]) => code.test(text))?.[1];
  // Each answer of the open API has a `msg` (section 7); those of the server API are not shown, but are no page.
  const isCloud = api === 'open' ? / failed: "/.test(text) : !/ failed: "</.test(text);
  const isOdd =
    isDeviceCloudError(error, 'NOT_FOUND', 'BAD_REQUEST', 'UNEXPECTED_STATUS') ||
    (api === 'open' && isDeviceCloudError(error, 'UNAUTHORIZED'));
  const isForeign = isDeviceCloudError(error, 'INVALID_RESPONSE') || (isOdd && !isCloud);
  if (!isForeign && !isDeviceCloudError(error, 'CONNECTION_LOST')) return undefined;
  if (await speaksTls(tested)) return 'needs-https';
  return isForeign ? 'not-a-cloud' : undefined;
}

/**
 * Helps with an error: with the address; or with one that a wrong key, application id or clock may have caused: 401, or 404
 * (section 7), or 400 of the public server of 2016, whose text says which.
 * @param refused `warnings`: what looks wrong about its keys
 */
async function helpWith(
  error: unknown,
  tested: Tested,
  { api, signing, warnings }: { api: Api; signing: SignedText; warnings: KeyWarning[] },
): Promise<Pick<ApiTest, 'causes' | 'warnings' | 'signing' | 'dialect' | 'problem'>> {
  const text = error instanceof Error ? error.message : '';
  const said = SAID.find(([pattern]) => pattern.test(text))?.[1];
  if (said === undefined) {
    const problem = await problemOf(error, api, tested);
    if (problem) return { problem };
    if (!isDeviceCloudError(error, 'UNAUTHORIZED', 'NOT_FOUND')) return {};
  }
  const causes: Cause[] = [];
  const isAboutKey = said === undefined || said === 'key';
  if (isAboutKey && warnings.length > 0) causes.push('blank');
  const { appkey } = tested.options;
  // The public server of 2016 signs with the key in lower case, the document with the key as it is.
  const mayBeCase = api === 'open' && isAboutKey && hasCapitals(appkey);
  if (mayBeCase && (await accepts(tested, appkey.toLowerCase()))) causes.unshift('capitals');
  else {
    const { clockSkew } = tested.client;
    causes.push(...(said === undefined ? causesOf(error, api, clockSkew) : [said]));
  }
  const isPublic = said !== undefined && isDeviceCloudError(error) && error.statusCode === 400;
  const dialect = isPublic ? 'public' : 'document';
  return { causes, warnings, signing, ...(api === 'open' && { dialect }) };
}
