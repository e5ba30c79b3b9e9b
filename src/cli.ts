#!/usr/bin/env node
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { parseArgs, parseEnv } from 'node:util';
import {
  decodeUpload,
  DeviceCloudClient,
  DeviceCloudError,
  isDeviceCloudError,
  VERSION,
  type ChannelListener,
  type ClientOptions,
  type PushFormat,
  type ServiceTest,
  type Upload,
} from './index';
import { printable, printableJson } from './util/show';

const HELP = `Usage: device-cloud COMMAND [options]

  listen [CHIPID…]           print uploads until Ctrl-C; no CHIPID: all online
  devices                    list the online devices
  push CHIPID|all TEXT       push a text; - reads it from standard input
    --format <format>        MSG (default), HEX, B64, AT or LUA
  gpio CHIPID [PIN [LEVEL]]  read all pins or one, or set one to 0 or 1
  value CHIPID KEY           read the value of a callback
  refresh CHIPID             ask the service whether the device is online
  reboot CHIPID              reset the device
  history CHIPID [--pushes]  print its uploads, or what was pushed to it
  test                       try address, keys, channel; say what is wrong

  --json                     print one JSON object a line
  --env-file <file>          read variables from a file of NAME=value lines
  --simulator                the built-in simulator: no account, no variables
  --help, --version

Variables: DEVICE_CLOUD_URL, DEVICE_CLOUD_APPID and DEVICE_CLOUD_APPKEY;
for test also DEVICE_CLOUD_SERVER_KEY and DEVICE_CLOUD_SERVER_PASSWORD.
Exit code: 0; 1 if service or device failed; 2 if the command was wrong.
`;

const OPTIONS = {
  format: { type: 'string' },
  pushes: { type: 'boolean' },
  json: { type: 'boolean' },
  'env-file': { type: 'string' },
  simulator: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const;

const FAILED = 1;
const WRONG_USE = 2;

/** The command line, or a variable, is not what the command takes. */
class WrongUse extends Error {}

/** Milliseconds between two looks for devices that have come online. */
const LIST_EVERY = 30_000;

/** What a command works with. */
interface Context {
  readonly client: DeviceCloudClient;
  readonly words: readonly string[];
  readonly options: { format?: string; pushes?: boolean };
  /** Prints a result: the object with `--json`, otherwise the line. @returns whether more may be printed at once */
  readonly write: (result: object, line: string) => boolean;
  /** The same, and waits until more may be printed. */
  readonly print: (result: object, line: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** How many words may follow a command, and what it does. */
type Command = readonly [least: number, most: number, run: (context: Context) => Promise<void>];

const note = (line: string): void => void process.stderr.write(`${printable(line)}\n`);

/** Ends as the reader of a pipe does: `| head` is no error. */
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? 0 : FAILED);
});

const timeOf = (timestamp: number): string => new Date(timestamp).toISOString();

/** A value as one line: text as it is, bytes as hexadecimal digits, anything else as JSON. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value);
}

/** Values of the service, which may be anything, on one line. */
const lineOf = (...values: unknown[]): string => values.map(valueText).join('  ');

/** The payload of an upload; of bytes that are neither text nor JSON, `hex`. */
const payloadOf = (value: unknown): object =>
  Buffer.isBuffer(value) ? { hex: value.toString('hex') } : { payload: value };

function printUpload(
  { client, write }: Context,
  { chipid, timestamp, body, replayed, altered }: Upload,
): void {
  const name = client.fleet.name(chipid);
  const value = decodeUpload(body, 'auto-detect');
  const flags = { ...(replayed && { replayed }), ...(altered && { altered }) };
  const result = { chipid, ...(name !== undefined && { name }), timestamp, ...flags };
  const about = [timeOf(timestamp), chipid, name, ...Object.keys(flags)];
  write(
    { ...result, ...payloadOf(value) },
    `${about.filter((each) => each !== undefined).join(' ')}  ${valueText(value)}`,
  );
}

/** Bytes of uploads that may wait until what is printed is read. */
const MOST_WAITING = 16 * 2 ** 20;

/** Prints the uploads of devices until the signal. */
async function listen(context: Context): Promise<void> {
  const { client, words, signal } = context;
  const following = new Set<string>();
  let fail!: (error: unknown) => void;
  const failed = new Promise<never>((_, reject) => (fail = reject));
  const add = (chipid: string): void => {
    if (following.has(chipid)) return;
    following.add(chipid);
    const listener: ChannelListener = {
      onUpload(upload) {
        printUpload(context, upload);
        if (process.stdout.writableLength <= MOST_WAITING) return;
        const advice = 'Uploads come faster than they are read. Listen to fewer devices.';
        fail(new DeviceCloudError('QUEUE_FULL', advice));
      },
      onState: (state, reason) =>
        note(`${chipid} ${state}${reason === undefined ? '' : ` (${reason})`}`),
      onFault: (fault) => note(`${chipid} ${fault}`),
    };
    client.listen(chipid, listener, {});
  };
  for (const chipid of words) add(chipid);
  // It may have come while the simulator was being started.
  const ended = signal.aborted
    ? Promise.resolve()
    : new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  if (words.length > 0) return Promise.race([ended, failed]);
  const look = async (): Promise<void> => {
    // Without the records that name no device.
    const { devices: listed } = await client.fleet.readList();
    for (const chipid of listed.keys()) add(chipid);
  };
  await Promise.race([ended, look()]);
  if (following.size === 0 && !signal.aborted) note('No device is online. Waiting for one.');
  const timer = setInterval(() => {
    look().catch((error: unknown) => {
      if (!signal.aborted) note(messageOf(error));
    });
  }, LIST_EVERY);
  try {
    await Promise.race([ended, failed]);
  } finally {
    clearInterval(timer);
  }
}

async function devices({ client, print }: Context): Promise<void> {
  const { devices: listed, invalid } = await client.fleet.readList();
  // Without their keys.
  for (const [chipid, { name, latest, vertype }] of listed)
    await print({ chipid, name, latest, vertype }, lineOf(chipid, name ?? '-', latest));
  if (invalid > 0) note(`Records without a valid chip number: ${invalid}.`);
}

/** Bytes of standard input: no push takes more. */
const MOST_INPUT = 64 * 2 ** 20;

async function readStandardInput(): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of process.stdin as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > MOST_INPUT)
      throw new WrongUse(`Standard input is over ${MOST_INPUT / 2 ** 20} MiB. Nothing was sent.`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString();
}

async function push({
  client,
  words: [to = '', given = ''],
  options,
  print,
}: Context): Promise<void> {
  const message = given === '-' ? await readStandardInput() : given;
  const settings = options.format === undefined ? {} : { format: options.format as PushFormat };
  const { body } = await (to === 'all'
    ? client.pushToApp(message, settings)
    : client.push(to, message, settings));
  await print(body, body.msg);
}

async function gpio({ client, words: [chipid = '', pin, level], print }: Context): Promise<void> {
  const number = pin === undefined ? undefined : Number(/^\d+$/.test(pin) ? pin : NaN);
  if (number !== undefined && level !== undefined) {
    const { body } = await client.setGpioEdge(chipid, number, level as '0' | '1');
    return print(body, valueText(body.result));
  }
  if (Number.isNaN(number)) throw new WrongUse(`PIN must be a number, but is "${pin}".`);
  const { body } = await client.gpioStatus(chipid);
  const levels = client.pinLevels(body.result);
  if (number !== undefined && !levels.has(number)) {
    const known = [...levels.keys()].join(', ');
    throw new DeviceCloudError(
      'INVALID_RESPONSE',
      `The device's answer has no pin ${number}, only ${known}.`,
    );
  }
  for (const [each, value] of levels)
    if (number === undefined || each === number)
      await print({ pin: each, level: value }, `${each}  ${valueText(value)}`);
}

async function value({ client, words: [chipid = '', key = ''], print }: Context): Promise<void> {
  const { body } = await client.rtStatus(chipid, key);
  await print({ key, value: body }, valueText(body));
}

async function history({ client, words: [chipid = ''], options, print }: Context): Promise<void> {
  const { body } = await (options.pushes
    ? client.pushHistory(chipid)
    : client.uploadHistory(chipid));
  for (const record of body) await print(record, lineOf(record.create_time, record.body));
}

/** What was found at an interface. */
function* apiLines(name: string, found: ServiceTest['openApi']): Generator<string> {
  if (!found) return void (yield `${name}: not tried, its keys are not set`);
  if (found.ok) {
    const app = found.name === undefined ? '' : `, application "${found.name}"`;
    const online = found.online === undefined ? '' : `, online: ${found.online}`;
    return void (yield `${name}: ok${app}${online}`);
  }
  yield `${name}: ${found.message}`;
  if (found.causes?.length) yield `  likely: ${found.causes.join(', then ')}`;
  for (const { message } of found.warnings ?? []) yield `  ${message}`;
  if (found.problem) yield `  ${found.problem}`;
  if (found.signing) {
    yield `  signed: ${found.signing.signed}`;
    yield found.signing.curl.replaceAll(/^/gm, '    ');
  }
}

function channelLine(channel: ServiceTest['channel']): string {
  if (!channel) return 'Channel: not tried';
  if (channel.ok === null) return 'Channel: not tried, since no device is online';
  const end = channel.ok ? 'ok' : `failed (${channel.reason})`;
  return `Channel of ${channel.chipid}: ${end}`;
}

async function test({ client, print }: Context): Promise<void> {
  // The records of the devices have their keys in them.
  const { devices: _, ...found } = await client.test();
  const { openApi, serverApi, channel } = found;
  if (!openApi && !serverApi) throw missing(['DEVICE_CLOUD_APPID', 'DEVICE_CLOUD_APPKEY']);
  const dialect = { document: "as the service's document says", public: 'as the public server' };
  const skew = Math.round((openApi?.clockSkew ?? serverApi?.clockSkew ?? 0) / 1000);
  const lines = [
    ...apiLines('Open API', openApi),
    ...(openApi?.dialect ? [`Answers ${dialect[openApi.dialect]}`] : []),
    channelLine(channel),
    ...apiLines('Server API', serverApi),
    ...(skew === 0
      ? []
      : [`Clock of this machine: ${Math.abs(skew)} s ${skew > 0 ? 'behind' : 'ahead'}`]),
  ];
  await print(found, lines.join('\n'));
  const wrong = [openApi, serverApi].find((each) => each?.ok === false);
  if (wrong) throw new Error(`${wrong.code}: The test has failed.`);
  if (channel?.ok === false)
    throw new DeviceCloudError('NOT_CONNECTED', 'The channel could not be opened.');
}

async function refresh({ client, words: [chipid = ''], print }: Context): Promise<void> {
  const { body } = await client.refresh(chipid);
  await print(body, valueText(body.status));
}

async function reboot({ client, words: [chipid = ''], print }: Context): Promise<void> {
  const { body } = await client.reboot(chipid);
  await print(body, valueText(body.result));
}

const COMMANDS: Readonly<Record<string, Command>> = {
  listen: [0, Infinity, listen],
  devices: [0, 0, devices],
  push: [2, 2, push],
  gpio: [1, 3, gpio],
  value: [2, 2, value],
  refresh: [1, 1, refresh],
  reboot: [1, 1, reboot],
  history: [1, 1, history],
  test: [0, 0, test],
};

/** How a command is used, as the help has it. */
const usageOf = (name: string): string =>
  new RegExp(`^  (${name}\\b.*?)  `, 'm').exec(HELP)?.[1] ?? name;

const missing = (names: readonly string[]): WrongUse =>
  new WrongUse(
    `${names.join(', ')} ${names.length === 1 ? 'is not set. Set it' : 'are not set. Set them'} in the environment ` +
      'or in a file (--env-file), or use the built-in simulator (--simulator).',
  );

function readEnv(file: string | undefined): NodeJS.Dict<string> {
  if (file === undefined) return process.env;
  try {
    return { ...parseEnv(readFileSync(file, 'utf8')), ...process.env };
  } catch (error) {
    throw new WrongUse(`--env-file: ${messageOf(error)}`);
  }
}

/** The service by the environment. @throws WrongUse that names what is missing */
function serviceOf(command: string, file: string | undefined): ClientOptions {
  const env = readEnv(file);
  const of = (name: string): string => env[`DEVICE_CLOUD_${name}`] ?? '';
  const needed = command === 'test' ? ['URL'] : ['URL', 'APPID', 'APPKEY'];
  const unset = needed.filter((name) => of(name) === '');
  if (unset.length > 0) throw missing(unset.map((name) => `DEVICE_CLOUD_${name}`));
  return {
    baseUrl: of('URL'),
    appid: of('APPID'),
    appkey: of('APPKEY'),
    // Two of them may be of no use to this machine.
    ...(command === 'test' && {
      serverKey: of('SERVER_KEY'),
      serverPassword: of('SERVER_PASSWORD'),
    }),
  };
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

async function main(args: string[]): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
  const [name = '', ...words] = positionals;
  if (values.help || (name === '' && !values.version)) {
    process.stdout.write(HELP);
    if (!values.help) process.exitCode = WRONG_USE;
    return;
  }
  if (values.version) {
    process.stdout.write(`${VERSION}\n`);
    return;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command) throw new WrongUse(`There is no command "${name}". See --help.`);
  const [least, most, run] = command;
  if (words.length < least || words.length > most)
    throw new WrongUse(`Usage: device-cloud ${usageOf(name)}. See --help.`);

  const ending = new AbortController();
  if (name === 'listen') {
    // Anything else may end at once: a call that is under way has no answer that anybody waits for.
    process.once('SIGINT', () => ending.abort()).once('SIGTERM', () => ending.abort());
  }
  const simulator = values.simulator
    ? await (await import('./simulator/index.js')).startSimulator()
    : undefined;
  try {
    await using client = new DeviceCloudClient(
      simulator
        ? Object.assign({ proxy: false as const }, simulator)
        : serviceOf(name, values['env-file']),
    );
    const write = (result: object, line: string): boolean =>
      process.stdout.write(`${values.json ? printableJson(result) : printable(line)}\n`);
    const print = async (result: object, line: string): Promise<void> => {
      if (!write(result, line)) await once(process.stdout, 'drain');
    };
    await run({ client, words, options: values, write, print, signal: ending.signal });
  } finally {
    await simulator?.close();
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isUse =
    error instanceof WrongUse ||
    isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED') ||
    String((error as NodeJS.ErrnoException).code).startsWith('ERR_PARSE_ARGS');
  note(
    isUse && !isDeviceCloudError(error) ? `device-cloud: ${messageOf(error)}` : messageOf(error),
  );
  process.exitCode = isUse ? WRONG_USE : FAILED;
});
