import type { Node, NodeAPI, NodeMessage } from 'node-red';
import {
  type Charset,
  type Datatype,
  type DecodedBody,
  decodeUpload,
  DeviceCloudError,
  type Fleet,
  invalidInput,
  JsonLimitError,
  type Limit,
  notConfigured,
  oneLine,
  parsePin,
  show,
  type Upload,
  type UploadDecoder,
  deviceTitle,
} from '../../src/index';
import { findNode } from './settings';
import { TYPE_TYPE } from './shared.config';

/** What the devices of one type send and have: a config node `device-cloud-type`. */
export interface DeviceType {
  /** By which errors call it. */
  readonly name: string;
  readonly problem?: DeviceCloudError | undefined;
  /** Undefined: uploads are decoded as the node says. */
  readonly decode?: UploadDecoder | undefined;
  /** By field; undefined if there are none. */
  readonly units?: Readonly<Record<string, string>> | undefined;
  /** Whether messages have the bytes, too. */
  readonly withRaw?: boolean;
  readonly pins: ReadonlyMap<string, { readonly pin: number; readonly isLow: boolean }>;
  /** Undefined if it has no limits. */
  readonly limits?: readonly Limit[] | undefined;
}

/** The config node at run time. */
export interface TypeNode extends Node {
  deviceType: DeviceType;
}

const unusable = (name: string, message: string): DeviceType => ({
  name,
  problem: notConfigured(message),
  pins: new Map(),
});

interface Deployed {
  readonly type: DeviceType;
  /** False from when a deploy closes its node until another takes its place. */
  isRunning: boolean;
}

/** By the node's id. Of the process, as Node-RED is: the book names types of any flow. */
const deployed = new Map<string, Deployed>();
/** The types that were found, by their names, until any type changes. */
const byName = new Map<string, DeviceType>();

const allCalled = (name: string): Deployed[] =>
  name === '' ? [] : [...deployed.values()].filter(({ type }) => type.name === name);

/** The type that the book means by a name; undefined if no type of that name is deployed. */
export function typeCalled(name: string): DeviceType | undefined {
  const known = byName.get(name);
  if (known) return known;
  const all = allCalled(name);
  const running = all.filter(({ isRunning }) => isRunning);
  const isTwice = running.length > 1;
  // A running type comes before a type that a deploy is about to replace.
  const [first] = running.length > 0 ? running : all;
  const type = isTwice ? unusable(name, `Two types are called ${show(name)}.`) : first?.type;
  if (type) byName.set(name, type);
  return type;
}

/** The decoder of a type, by the id of its node. */
export const decoderOf = (id: string): UploadDecoder | undefined => deployed.get(id)?.type.decode;

/**
 * Makes a type known by its name until its node closes. A deploy that replaces the node leaves no moment without it.
 * @returns whether another type has its name
 */
export function deployType(RED: NodeAPI, node: TypeNode): boolean {
  const { deviceType: type, id } = node;
  const entry = { type, isRunning: true };
  deployed.set(id, entry);
  byName.clear();
  const isNameTaken = allCalled(type.name).filter(({ isRunning }) => isRunning).length > 1;
  const remove = (): void => {
    if (deployed.get(id) !== entry) return;
    deployed.delete(id);
    byName.clear();
  };
  node.on('close', (isRemoved: boolean, done: () => void) => {
    entry.isRunning = false;
    byName.clear();
    if (isRemoved) remove();
    else RED.events.once('flows:started', remove);
    done();
  });
  return isNameTaken;
}

/** What a listener tells the sidebar of its devices. */
export interface Listening {
  /** The type that the node itself names for all of its devices. */
  readonly type: DeviceType | undefined;
  has(chipid: string): boolean;
  /** The devices whose histories are not understood. */
  unclear(): string[];
}

/** The listeners that run, by their nodes. */
const listening = new WeakMap<Node, Listening>();

export const setListening = (node: Node, of: Listening): void => void listening.set(node, of);

/** Those of some nodes that are listeners. */
export const listenersOf = (users: Readonly<Record<string, Node>>): Listening[] =>
  Object.values(users).flatMap((user) => listening.get(user) ?? []);

/** The types of a node's devices. */
export class DeviceTypes {
  /** The type that the node names. */
  readonly #own: DeviceType | undefined;

  /**
   * @param id of the type for all devices of the node; empty: the type that the book names for each
   * @param warn logs what is wrong with the former
   */
  constructor(RED: NodeAPI, id: string | undefined, warn: (line: string) => void) {
    if (!id) return;
    this.#own =
      (findNode(RED, id, TYPE_TYPE) as TypeNode | undefined)?.deviceType ??
      unusable(id, 'The type of the devices is missing or disabled. Open the node and choose one.');
    if (this.problem) warn(this.problem.message);
  }

  /** The type that the node names, if there is one. */
  get own(): DeviceType | undefined {
    return this.problem ? undefined : this.#own;
  }

  get problem(): DeviceCloudError | undefined {
    return this.#own?.problem;
  }

  /**
   * The type of a device: the node's, or the book's. Undefined if it has none. A name of the book may be no more
   * than a label, so that one without a deployed type counts as none; the sidebar names it as a problem.
   */
  of(fleet: Fleet | undefined, chipid: string): DeviceType | undefined {
    if (this.#own) return this.#own;
    const name = fleet?.book?.find(chipid)?.type;
    return name ? typeCalled(name) : undefined;
  }
}

/** Names of pins that an error lists. */
const MOST_NAMES = 30;

/** Whether a pin is given by its name, which has a letter. */
export const isPinName = (pin: unknown): pin is string =>
  typeof pin === 'string' && /\p{L}/u.test(pin);

/**
 * Finds a pin by its number or, if the device has a type, by its name there.
 * @returns its number, and whether it is active low: a pin that is given by its number never is
 * @throws DeviceCloudError `INVALID_INPUT` that lists the names
 */
export function resolvePin(
  type: DeviceType | undefined,
  pin: unknown,
): { pin: number; isLow: boolean } {
  if (!isPinName(pin)) return { pin: parsePin(pin), isLow: false };
  if (!type)
    throw invalidInput(
      `The pin must be an integer from 0, but is ${show(pin)}: the device has no type that names its pins.`,
    );
  if (type.problem) throw type.problem;
  const found = type.pins.get(pin.trim());
  if (found) return found;
  const names = [...type.pins.keys()];
  const some = names.slice(0, MOST_NAMES).map((name) => oneLine(name, MOST_NAMES));
  const known = names.length === 0 ? 'has no names of pins' : `has ${some.join(', ')}`;
  const more = names.length > MOST_NAMES ? ', …' : '';
  throw invalidInput(`No pin is called ${show(pin)}: the type ${show(type.name)} ${known}${more}.`);
}

interface Decoding {
  readonly datatype: Datatype;
  /** Of text that is not UTF-8. */
  readonly charset: Charset;
  /** The type of the device comes before the datatype. */
  readonly type: DeviceType | undefined;
}

/**
 * Decodes the body of an upload, live, recovered, the latest or of a history: by the type of its device, if that has a decoder.
 * @returns the value, or what is wrong with it: without a type, to end the sentence "the body is …"
 */
export function decodeBody(bytes: Buffer, { datatype, charset, type }: Decoding): DecodedBody {
  if (type?.problem) return { problem: type.problem.message.replace(/^[A-Z_]+: /, '') };
  if (type?.decode) return type.decode(bytes, charset);
  try {
    return { value: decodeUpload(bytes, datatype, charset) };
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.what : 'not JSON' };
  }
}

/** Whether a body is decoded by the type of its device. */
export const isTyped = (type: DeviceType | undefined): type is DeviceType =>
  type !== undefined && (type.decode !== undefined || type.problem !== undefined);

/**
 * The error for a body that cannot be decoded.
 * @param what it is, at the beginning of a sentence
 * @param advice without a type
 */
export function undecodable(
  what: string,
  problem: string,
  type: DeviceType | undefined,
  advice = '',
): DeviceCloudError {
  const text = type?.problem
    ? `${what} cannot be decoded. ${problem}`
    : isTyped(type)
      ? `${what} cannot be decoded by the type ${show(type.name)}: ${problem}.`
      : `${what} is ${problem}. ${advice}`.trimEnd();
  return new DeviceCloudError('INVALID_RESPONSE', text);
}

/** What a type adds to a message: the units of the fields, and the bytes if it says so. */
export function typeFields(
  type: DeviceType | undefined,
  raw: Buffer,
): { raw?: Buffer; units?: Record<string, string> } {
  return {
    ...(type?.withRaw && { raw }),
    // A copy, since a flow may change it.
    ...(type?.units && { units: { ...type.units } }),
  };
}

/** Fields that an earlier node may have left for a device of another type. */
export const staleFields = (type: DeviceType | undefined): string[] =>
  type ? ['units', 'raw'] : [];

/** Adds the device's row of the book to a new message about it. */
export function addRow(message: NodeMessage, fleet: Fleet | undefined, chipid: string): void {
  const row = fleet?.book?.row(chipid);
  if (row !== undefined) message['device'] = row;
}

/** Makes the message of an upload, with the bytes as they came. */
function rawMessage(
  { chipid, appid, timestamp, body, type, replayed, id, altered }: Upload,
  fleet: Fleet | undefined,
): NodeMessage {
  const message: NodeMessage = { topic: chipid, chipid, appid, timestamp, payload: body };
  const name = fleet?.nameOf(chipid);
  if (type !== undefined) message['type'] = type;
  if (name !== undefined) message['name'] = name;
  if (altered) message['altered'] = true;
  if (replayed) Object.assign(message, { replayed, id });
  addRow(message, fleet, chipid);
  return message;
}

/** The message of an upload, and the error it goes with if its body cannot be decoded. */
export function uploadMessage(
  upload: Upload,
  decoding: Decoding,
  fleet: Fleet | undefined,
): { message: NodeMessage; error?: DeviceCloudError } {
  const { type } = decoding;
  const { chipid, body } = upload;
  const message = rawMessage(upload, fleet);
  // As typeFields does, without an object in between: this runs for each upload.
  if (type?.withRaw) message['raw'] = body;
  if (type?.units) message['units'] = { ...type.units };
  const decoded = decodeBody(body, decoding);
  if ('value' in decoded) {
    message.payload = decoded.value;
    return { message };
  }
  if (type) message['raw'] = body;
  const error = undecodable(
    `An upload of ${fleet?.titleOf(chipid) ?? deviceTitle(chipid)}`,
    decoded.problem,
    type,
    'Its bytes are in the message of this error; choose another output, such as auto-detect, if the device uploads other data, too.',
  );
  return { message, error };
}
