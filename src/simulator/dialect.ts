import type { Params } from '../api/signing';
import { PUSH_FORMATS, type PushFormat } from '../types';
import { decodeBase64, type ListPage, type ServerChange } from './assumptions';
import type { Device, Received } from './device';
import type { PushEntry, UploadEntry } from './history';
import type { Refusal } from './http';
import type { HistoryEncoding, Settings, Wait } from './options';

/** Why a device did not answer: it was not connected, or did not answer in time. */
export type Silence = 'away' | 'silent';

/** A request of interface B, or for a channel, whose sign is to be checked. */
export interface Signed {
  /** The request method; the channel's is `get` (section 4.3). */
  readonly method: string;
  /** The parameters of the URL. */
  readonly query: Params;
  /** All parameters, with those in a form. */
  readonly params: Params;
  readonly of: 'open-api' | 'channel';
}

/** A command to a pin. */
export interface PinCommand {
  /** Undefined if the device does not have it. */
  readonly pin: number | undefined;
  readonly level: 0 | 1;
  /** What the device answers. */
  readonly result: string;
}

/** A push on its way to a device. */
export type Push = Pick<Received, 'via' | 'format' | 'bytes'> & { readonly message: string };

/** The state of the service, as far as a dialect needs it. */
export interface State {
  readonly settings: Settings;
  readonly devices: ReadonlyMap<string, Device>;
  /** Whether the application has been deleted (section 2.2). */
  readonly isDeleted: boolean;
}

/**
 * What the dialects do differently. Their defaults of options are in options.ts;
 * whatever is in neither is the same in all of them.
 */
export interface Dialect {
  /** Whether a call to a device that is not connected is answered at once, without a wait. */
  readonly knowsWhoIsAway: boolean;

  /** Checks the common parameters of interfaces B and C (section 5.2). @throws Refusal */
  checkSign(state: State, signed: Signed): void;
  /** The refusal of a path of interface B that does not exist. */
  readonly noPath: () => Refusal;
  /** The refusal of a text that is not the integer it should be. */
  notInteger(name: string, isInPath: boolean): Refusal;
  /** The refusal of a device that does not exist. */
  readonly noDevice: (chipid: string) => Refusal;
  /** The refusal of the history of a device that does not exist. */
  readonly noHistory: (chipid: string) => Refusal;

  latest(device: Device): string;
  /** Checks that a history can be written. @throws Refusal */
  checkHistory(uploads: readonly UploadEntry[]): void;
  /** Which uploads `sync/` gives for two dates. @throws Refusal */
  readSpan(begin: string, end: string): (upload: UploadEntry) => boolean;
  /** The fields of a push in the history that say what was pushed. */
  pushedAs(push: PushEntry, encoding: HistoryEncoding): { body: string; msgtype: string };
  /** Whether a push is in the history of its device. */
  keepsPush(via: Push['via'], answered: boolean): boolean;

  /** Reads the parameters of a push. @throws Refusal */
  readPush(params: Params, via: Push['via']): Push;
  /** What reaches a device of a message. @throws Refusal */
  messageBytes(message: string, format: PushFormat): Buffer;
  /** What a device reads of it as text. */
  deviceText(bytes: Buffer): string;
  /** The answer to a push to all devices. @param reached how many were online @throws Refusal */
  pushedToAll(reached: number): object;

  /** The error of a call that a device did not answer. */
  unanswered(device: Device, wait: Wait, why: Silence): Refusal;
  /** The answer to a refresh that the device did not answer. @throws Refusal */
  refreshed(device: Device, why: Silence): object;
  /** The answer of a callback; undefined if no callback has that key. @throws Refusal */
  callbackAnswer(device: Device, callback: { value: unknown } | undefined): unknown;
  /** The parameter `key` of `rt_status`. @throws Refusal */
  readKey(params: Params): string;
  /** The `result` of `gpio_status`. @param levels a character 0 or 1 by pin */
  gpioResult(levels: string): string;
  /** Reads the segments of `set_gpio_edge`. @throws Refusal */
  readPin(pin: string, edge: string): PinCommand;
  readonly rebooted: string;

  /** Interface A. */
  readonly server: {
    /** Whether data for a device may also be sent by `POST /device/:id/messages`. */
    readonly posts: boolean;
    /** The device that a path names. @throws Refusal */
    find(state: State, deviceid: string): Device;
    devices(state: State, devices: readonly Device[], page: ListPage): object;
    device(state: State, device: Device): object;
    uploads(state: State, uploads: readonly UploadEntry[], page: ListPage): object;
    /** What a body asks for, undefined if it cannot be read. */
    readChange(method: string, body: Record<string, unknown>): ServerChange | undefined;
  };
}

const HEX = /^(?:[0-9a-fA-F]{2})*$/;

/** The format of a name (section 4.2.3), or undefined if there is no such format. */
export const formatOf = (name: unknown): PushFormat | undefined =>
  PUSH_FORMATS.find((format) => format === name);

/** The bytes of a message in hexadecimal or Base64, or undefined if it is malformed. */
export function decoded(message: string, format: 'HEX' | 'B64'): Buffer | undefined {
  if (format === 'B64') return decodeBase64(message);
  return HEX.test(message) ? Buffer.from(message, 'hex') : undefined;
}
