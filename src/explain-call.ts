import { DEVICE_LISTS, type OpenApiCall } from './api/open-api';
import {
  explainChannel,
  explainOpenApi,
  explainServerApi,
  hideSecrets,
  type Draft,
  type ExplainNote,
  type ExplainSettings,
  type Explanation,
} from './api/explain';
import type { ServerApiCall } from './api/server-api';
import { readLimits, type Caller } from './caller';
import { CALLS, type CallArguments, type CallName } from './calls';
import { keyWarnings, type KeyName } from './input/pasted-key';
import type { ClientOptions } from './settings';
import type { CallOptions } from './types';

/** The calls that can be explained: all that send a request. */
export type ExplainedCall = CallName;

/** The arguments of a call. */
export type ExplainedArguments<C extends ExplainedCall> = CallArguments<C>;

const settingsOf = ({ settings, options }: Caller): ExplainSettings => {
  const { origin, timestampUnit, postParameters, signCase } = settings;
  const { now = Date.now, proxy, serverPassword = '' } = options;
  const curlOptions = proxy === false ? ["--noproxy '*'"] : [];
  const appid = settings.openApi?.appid ?? '';
  return { origin, appid, serverPassword, timestampUnit, postParameters, signCase, now, curlOptions }; // prettier-ignore
};

/** What is read of a call, as far as an explanation needs it. */
type ReadCall = { options: CallOptions | undefined } & (
  | { spec: Pick<OpenApiCall<never>, 'unsigned'> }
  | { serverSpec: Pick<ServerApiCall, 'unsigned'> }
  | { device: string; bytes: Buffer }
);

const READERS: {
  readonly [C in ExplainedCall]: (from: Caller, ...args: ExplainedArguments<C>) => ReadCall;
} = CALLS;

const SPELLING: ExplainNote = {
  code: 'spelling',
  message: `If the answer is 404, ${DEVICE_LISTS[1]} is requested instead of ${DEVICE_LISTS[0]}.`,
};

function draft<C extends ExplainedCall>(from: Caller, call: C, args: ExplainedArguments<C>): Draft {
  const read = READERS[call](from, ...args);
  // An explanation has no limits, but invalid ones are an error of the call.
  readLimits(read.options, 1);
  const settings = settingsOf(from);
  if ('bytes' in read) return explainChannel(settings, read.device, read.bytes);
  if ('serverSpec' in read) return explainServerApi(settings, read.serverSpec.unsigned);
  const explained = explainOpenApi(settings, read.spec.unsigned);
  return call === 'devices' ? { ...explained, warnings: [SPELLING] } : explained;
}

const KEYS_OF_SERVER: readonly KeyName[] = ['serverKey', 'serverPassword'];
const KEYS_OF_OPEN: readonly KeyName[] = ['appid', 'appkey'];

function connectionNotes({ tls, proxy }: ClientOptions, origin: string): ExplainNote[] {
  const lacking = (code: 'tls' | 'proxy', what: string): ExplainNote => ({
    code,
    message: `The command does not have the ${what} settings of the application.`,
  });
  return [
    ...(tls && origin.startsWith('https:') ? [lacking('tls', 'TLS')] : []),
    ...(proxy ? [lacking('proxy', 'proxy')] : []),
  ];
}

/** Explains a call. @throws DeviceCloudError as the call itself does for what it is given */
export function explainCall<C extends ExplainedCall>(
  from: Caller,
  call: C,
  args: ExplainedArguments<C>,
): Explanation {
  const explained = draft(from, call, args);
  const { options, settings } = from;
  const names = call.startsWith('server') ? KEYS_OF_SERVER : KEYS_OF_OPEN;
  const warnings = [
    ...keyWarnings(Object.fromEntries(names.map((name) => [name, options[name]]))),
    ...connectionNotes(options, settings.origin),
    ...explained.warnings,
  ];
  const secrets = [options.appkey, options.serverKey, options.serverPassword];
  return hideSecrets({ ...explained, warnings }, secrets);
}
