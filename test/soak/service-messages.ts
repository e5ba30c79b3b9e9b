import type { DialectName, HistoryEncoding } from '../../src/simulator';

/** What the process of the service is started with. */
export interface ServiceSettings {
  devices: number;
  rate: number;
  seed: string;
  /** Seconds after which each connection is cut. */
  cut: number;
  /** How bodies are written in the history. */
  history: HistoryEncoding;
  /** How the service answers. Default `document`. */
  dialect?: DialectName;
  /** Whether a newer channel of a device closes the older one. */
  replace?: boolean;
  /** Where it writes down what it has accepted. */
  acceptedFile: string;
}

export type Command = 'begin' | 'state' | 'calm' | 'acted';

/** Where the service is, as Node-RED sees it, and the keys of its application. */
export interface ServiceAddress {
  baseUrl: string;
  appid: string;
  appkey: string;
  serverKey: string;
  serverPassword: string;
  /** The devices whose uploads count. */
  chipids: string[];
  /** Devices that come and go, reply, and get commands. */
  peers: string[];
}

/** What the service tells after each command. */
export interface ServiceState {
  command: Command;
  /** How many of the devices have an open channel. */
  channels: number;
  /** Channels opened so far. */
  upgrades: number;
  /** Histories answered so far. */
  readings: number;
  /** Devices whose history has been answered at least once. */
  devicesRead: number;
  /** Of the time since the trouble began, the share that a channel was open, on average. */
  connected: number;
  /** Answers of a history that had something wrong in them. */
  spoilt: number;
  /** How often each kind of trouble came. */
  troubles: Record<string, number>;
  /** After `acted`: how often the peers got the push with each serial. */
  acted?: Record<string, number>;
}

export type Report = { ready: ServiceAddress } | ServiceState;
