import type { DeviceCloudError } from './errors';

/**
 * The arguments of the calls. Each is checked again when it is used, since many come from messages
 * and forms: an invalid one is `INVALID_INPUT`, and nothing is sent.
 */

/** A chip number: a safe integer from 0, or 1 to 20 digits, which never lose one. */
export type Chipid = number | string;

/** A pin: an integer from 0, or its digits. */
export type Pin = number | string;

/** The level of a pin: low is 0, high is 1 (section 4.2, `:edge`). */
export type Level = 0 | 1 | '0' | '1' | boolean | 'low' | 'high' | 'off' | 'on';

/**
 * A day: `YYYYMMDD` or ISO text, a Date, or milliseconds since 1970. A point in time counts as its day on this machine or
 * in Beijing, whichever misses nothing: where the service's day begins is not shown.
 */
export type Day = string | number | Date;

/** A message to push: text, a number, a boolean, bytes, or an object as JSON. HEX and B64 accept text or bytes. */
export type PushMessage = string | number | boolean | object;

/** Query parameters whose names the service's document does not show: passed through. */
export type Query = Readonly<Record<string, string | number | boolean>>;

/** A JSON object. */
export type JsonObject = Record<string, unknown>;

/** The options of one call. */
export interface CallOptions {
  /** Milliseconds the call may take once its turn has come; default: 12,000 if it reaches a device, else the client's. */
  timeout?: number;
  /** Aborts the call; the error shows its `reason`. */
  signal?: AbortSignal;
  /** Is called whenever what the call waits for changes; what it throws is ignored. */
  onProgress?: (progress: CallProgress) => void;
}

/** What a call waits for: the device to show itself, the commands before it, or the answer. */
export type CallProgress =
  | { state: 'awaiting-device' }
  | { state: 'waiting'; ahead: number }
  | { state: 'calling' };

/** What a command does. */
export type CommandKind =
  | 'push'
  | 'channel'
  | 'request'
  | 'gpio'
  | 'pulse'
  | 'gpio-status'
  | 'rt-status'
  | 'refresh'
  | 'reboot';

/** What a command does, without what it sends. */
export interface CommandWhat {
  readonly kind: CommandKind;
  /** Of `gpio` and `pulse`. */
  readonly pin?: number;
  readonly level?: number;
}

/** The times at which a command can be sent: see {@link CommandOptions}. */
export const WHENS = ['now', 'online', 'upload'] as const;
/** When a command is sent: see {@link CommandOptions}. */
export type When = (typeof WHENS)[number];

/**
 * The options of one command. A command that waits for its device is sent at most once, whatever
 * the outcome. Until then it keeps the device's channel open, and blocks no other command. Those that wait
 * for one device, at most 100, are sent in the order of arrival once it shows itself. If a call gets no answer
 * (`TIMEOUT`, `GATEWAY`, `CONNECTION_LOST`, `UNREACHABLE`), the rest of them wait for its next sign.
 */
export interface CommandOptions extends CallOptions {
  /**
   * `now` (default): at once. `online`: at once if the device is in the list of online devices, otherwise when it
   * is next listed (the list is read every 60 seconds) or uploads. `upload`: right after its next live upload.
   */
  when?: When;
  /** Milliseconds after which a command that is still waiting fails with `EXPIRED`, and is not sent; default 3,600,000. */
  expires?: number;
  /**
   * Whether it takes the place of a waiting command of the same kind to the device, of `setGpioEdge` and `pulseGpio` also to
   * the same pin, which then fails with `CANCELLED`; default false.
   */
  replace?: boolean;
}

/** The options of a pulse. */
export interface PulseOptions extends CommandOptions {
  /** Milliseconds between the two levels, 1 to 60,000; default 500. */
  duration?: number;
}

/** The options of reading the value of a callback. */
export interface ValueOptions extends CallOptions {
  /**
   * How the answer is decoded: `auto-detect` (default), any JSON value, otherwise text; `utf8`, always text; `json`,
   * where anything else is `INVALID_RESPONSE`.
   */
  datatype?: ValueDatatype;
}

/** The options of a push. */
export interface PushOptions extends CommandOptions {
  /** Default `MSG` (text). */
  format?: PushFormat;
}

/** The settings of a proxy, as a person enters them. */
export interface ProxySettings {
  /** `http://host:port` or `https://host:port`; it may contain a user name and a password. */
  url: string;
  /** Takes precedence over the one in the URL. */
  username?: string;
  /** Takes precedence over the one in the URL. */
  password?: string;
  /** Hosts that are reached without the proxy, in the form of `NO_PROXY`'s entries. */
  noProxy?: readonly string[];
}

/**
 * A chip number as the service writes it. One beyond the safe integers arrives as a string of
 * digits, since a JavaScript number would lose some.
 */
export type ServiceInteger = number | string;

/** A device of the open API (section 2.1). */
export interface DeviceRecord {
  /** Chip number: what every call names the device by. */
  chipid: ServiceInteger;
  /** The name that was given to it, if any. */
  name: string | number | null;
  /** Equal to the chip number. */
  devid: ServiceInteger;
  /** The application that owns the device. */
  appid: ServiceInteger;
  /** Device version type. */
  vertype: number;
  /** Device key text; may contain NUL and further text. A secret: do not show it. */
  devkey: string;
  /** Last time the device was seen alive, `YYYY-MM-DD HH:MM:SS`. */
  latest: string;
}

/** An application, called category by the service (section 2.2), with its online devices. */
export interface AppRecord {
  /** The application's name. */
  name: string;
  /** Its devices that are online now. */
  online: DeviceRecord[];
}

/** An upload, as a listener receives it (section 6, `data_upload`). */
export interface Upload {
  /** The device, as digits. */
  chipid: string;
  /** Its application, as digits. */
  appid: string;
  /** Unix time in milliseconds. */
  timestamp: number;
  /** The uploaded bytes. */
  body: Buffer;
  /** Set if the upload was missed live and read from the history. */
  replayed?: true;
  /** Its id in the history, if it was read from there. */
  id?: ServiceInteger;
  /** Set if the history does not keep what was uploaded, or nothing has shown yet that it does: what was lost cannot be seen. */
  altered?: true;
  /** The type of its event, if that is not `data_upload`: the public server of 2016 has `uart_trans`. */
  type?: string;
}

/** An uploaded message (section 2.3). */
export interface UploadRecord {
  /** The data; whether as text or as Base64 is not shown. */
  body: string;
  /** Name of the application. */
  app: string;
  /** `YYYY-MM-DD HH:MM:SS` */
  create_time: string;
  /** Its number in the history. */
  id: ServiceInteger;
  /** Chip number. */
  dev: string;
}

/** A pushed command (section 2.4). */
export interface PushRecord {
  /** The pushed data; whether as text or as Base64 is not shown. */
  body: string;
  /** `YYYY-MM-DD HH:MM:SS` */
  create_time: string;
  /** A label of the kind of message. */
  msgtype: string;
  /** Its number in the history. */
  id: string;
  /** Chip number. */
  dev: string;
}

/** An uploaded message as the synchronisation gives it (section 2.5). */
export interface SyncRecord {
  /** The data; whether as text or as Base64 is not shown. */
  body: string;
  /** `YYYY-MM-DD HH:MM:SS` */
  recv_time: string;
  /** Name of the application. */
  app: string;
  /** Chip number. */
  chipid: string;
  /** `YYYY-MM-DD HH:MM:SS` */
  create_time: string;
  /** Its number in the history. */
  id: ServiceInteger;
}

/** The formats of a push (section 4.2, endpoint 3). */
export const PUSH_FORMATS = ['MSG', 'HEX', 'AT', 'LUA', 'B64'] as const;
/** A format of a push: text, hexadecimal, AT command, Lua, Base64. */
export type PushFormat = (typeof PUSH_FORMATS)[number];

/** The ways to decode uploaded bytes. */
export const DATATYPES = ['auto-detect', 'buffer', 'utf8', 'json', 'base64'] as const;
/** A way to decode uploaded bytes. */
export type Datatype = (typeof DATATYPES)[number];

/** The ways to decode the value of a callback. */
export const VALUE_DATATYPES = ['auto-detect', 'utf8', 'json'] as const;
/** A way to decode the value of a callback. */
export type ValueDatatype = (typeof VALUE_DATATYPES)[number];
/** The charsets of text that is not valid UTF-8 in an upload, and of text pushed over the channel. */
export const CHARSETS = ['utf-8', 'gbk'] as const;
/** A charset: see {@link CHARSETS}. */
export type Charset = (typeof CHARSETS)[number];

/** The result of every call over HTTP. */
export interface Answer<T> {
  /** The HTTP status: 200 of the open API, any 2XX of the server API (section 7). */
  statusCode: number;
  /** The answer's JSON. The server API may also answer with an empty body, which is null, and a 2XX other than 200 with text. */
  body: T;
  /**
   * Set if a command to a device was answered, and the answer makes it doubtful that it was carried out: its `result` is one
   * control character other than U+0000, with which the public server of 2016 answers a command that is done.
   */
  warning?: string;
}

/** The answer of the pushes, endpoints 3 and 4. */
export interface PushAnswer {
  /** `OK` of a push to a device, `success` of one to all; the public server of 2016 writes `sucess`. */
  msg: string;
}

/** The answer of the refresh, endpoint 11. */
export interface RefreshAnswer {
  /** `online` when the device answered; which others there are is not shown. */
  status: string;
  /** `OK`. */
  msg: string;
}

/** The answer of endpoints 9, 10 and 12. */
export interface ResultAnswer {
  /**
   * Of endpoint 9 the pins' level characters, whose order and meaning are not shown: `pinLevels` of the client reads
   * them. Of the others text that is not shown.
   */
  result: string;
}

/**
 * `kept`: the device has confirmed the level. `pending`: it has not, or not since it was last away. `differs`: it was set and
 * read back, and has another level. `ended`: it is not kept any more.
 */
export type KeptState = 'kept' | 'pending' | 'differs' | 'ended';

/** A pin that is to keep a level. */
export interface KeptPin {
  /** The device, as digits. */
  chipid: string;
  pin: number;
  /** Null once it has ended. */
  wanted: 0 | 1 | null;
  /** The level that was read last; null before, and if the answer had none of this pin. */
  found: unknown;
  state: KeptState;
}

/** How pins are kept, and who is called with changes: the same for all pins that belong together. */
export interface PinKeeper {
  /** Whose pins they are, also after a restart. Default: empty. */
  id?: string;
  /** Milliseconds between two looks at a device, default 300,000, at least 30,000; 0: only after it was away. */
  check?: number;
  /** The level of each character of an answer, as for `pinLevels`. */
  codes?: Readonly<Record<string, unknown>>;
  /** Milliseconds that a call may take, default 12,000. */
  timeout?: number;
  /** The state of a pin has changed, after the call that has set its level. */
  onState?(pin: KeptPin): void;
  /** A pin could not be set or read, and not since its device is silent. Once for a code, until the pin has the level. */
  onError?(pin: KeptPin, error: DeviceCloudError): void;
}
