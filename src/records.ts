/**
 * A chip number as the service writes it. One beyond the safe integers arrives as a string of
 * digits, since a JavaScript number would lose some.
 */
export type ServiceInteger = number | string;

/** A device of the open API (section 2.1). */
export interface DeviceRecord {
  /** Chip number: what every call names the device by. */
  chipid: ServiceInteger;
  /** What somebody called it, if anybody did. */
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
  /** What was pushed; whether as text or as Base64 is not shown. */
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

/** How uploaded bytes become a payload. */
export type Datatype = 'auto-detect' | 'buffer' | 'utf8' | 'json' | 'base64';
