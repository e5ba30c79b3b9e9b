/**
 * A chip number as the service writes it. One beyond the safe integers arrives as a string of
 * digits, since a JavaScript number would lose some.
 */
export type ServiceInteger = number | string;

/** A device of the open API (section 2.1). */
export interface DeviceRecord {
  chipid: ServiceInteger;
  name: string | number | null;
  devid: ServiceInteger;
  appid: ServiceInteger;
  vertype: number;
  devkey: string;
  /** Last time the device was seen alive, `YYYY-MM-DD HH:MM:SS`. */
  latest: string;
}

/** An application, called category by the service (section 2.2), with its online devices. */
export interface AppRecord {
  name: string;
  online: DeviceRecord[];
}

/** An uploaded message (section 2.3). */
export interface UploadRecord {
  body: string;
  /** Name of the application. */
  app: string;
  /** `YYYY-MM-DD HH:MM:SS` */
  create_time: string;
  id: ServiceInteger;
  /** Chip number. */
  dev: string;
}

/** A pushed command (section 2.4). */
export interface PushRecord {
  body: string;
  /** `YYYY-MM-DD HH:MM:SS` */
  create_time: string;
  /** A label of the kind of message. */
  msgtype: string;
  id: string;
  /** Chip number. */
  dev: string;
}

/** An uploaded message as the synchronisation gives it (section 2.5). */
export interface SyncRecord {
  body: string;
  recv_time: string;
  app: string;
  chipid: string;
  create_time: string;
  id: ServiceInteger;
}

/** The formats of a push (section 4.2, endpoint 3). */
export const PUSH_FORMATS = ['MSG', 'HEX', 'AT', 'LUA', 'B64'] as const;
export type PushFormat = (typeof PUSH_FORMATS)[number];

/** How uploaded bytes become a payload. */
export type Datatype = 'auto-detect' | 'buffer' | 'utf8' | 'json' | 'base64';
