/** What the process of the service is started with. */
export interface ServiceSettings {
  devices: number;
  rate: number;
  seed: string;
  /** Where it writes down what it has accepted. */
  acceptedFile: string;
}

export type Command = 'begin' | 'state' | 'calm';

/** Where the service is, as Node-RED sees it, and the keys of its application. */
export interface ServiceAddress {
  baseUrl: string;
  appid: string;
  appkey: string;
  serverKey: string;
  serverPassword: string;
  chipids: string[];
}

/** What the service tells after each command. */
export interface ServiceState {
  command: Command;
  /** Open now. */
  channels: number;
  /** Channels opened so far. */
  upgrades: number;
  /** Histories answered so far. */
  readings: number;
  /** Devices whose history has been answered at least once. */
  devicesRead: number;
  /** How often each kind of trouble came. */
  troubles: Record<string, number>;
}

export type Report = { ready: ServiceAddress } | ServiceState;
