import { TYPED, type Datatype, type TypedConfig } from '../common/shared.config';

export const LISTEN_TYPE = 'device-cloud-listen';

export interface ListenConfig extends TypedConfig {
  app: string;
  devices: 'list' | 'online' | 'group' | 'dynamic';
  chipids: string[];
  /** Of the device book; empty: all of its devices. */
  group: string;
  /** Seconds between two readings of the online list. */
  refresh: number | string;
  datatype: Datatype;
  recover: 'off' | 'reconnect' | 'restart';
  /** One share of the devices, such as `${ORDINAL}/${COUNT}`; empty for all. */
  shard: string;
  /** Whether an upload goes on from here or into the cluster's queue. */
  deliver: 'here' | 'queue';
}

export const DEFAULTS: ListenConfig = {
  app: '',
  devices: 'list',
  chipids: [],
  group: '',
  refresh: 60,
  datatype: 'auto-detect',
  ...TYPED,
  recover: 'reconnect',
  shard: '',
  deliver: 'here',
};

/** A share of the devices as text: an ordinal, which counts from 0, and a count. */
export const SHARD_FORM = /^\s*(\d{1,4})\s*\/\s*(\d{1,4})\s*$/;
export const MOST_SHARDS = 1024;

/**
 * The status of a listener whose devices several processes share, in English: no catalogue can have one text for each
 * pair of numbers. The editor half puts it into the reader's language.
 */
export const processesText = (channels: string, processes: number): string =>
  `${channels} · ${processes} ${processes === 1 ? 'process' : 'processes'}`;

const FORM = /^(\d+\/\d+) · (\d+) process(?:es)?$/;

/** Takes such a text apart. */
export function readProcessesText(text: unknown): { channels: string; number: number } | undefined {
  const [, channels, number] = typeof text === 'string' ? (FORM.exec(text) ?? []) : [];
  return channels === undefined ? undefined : { channels, number: Number(number) };
}
