import { TYPED, type Datatype } from '../common/shared.config';

export const LISTEN_TYPE = 'device-cloud-listen';

export const DEFAULTS = {
  app: '',
  devices: 'list' as 'list' | 'online' | 'group' | 'dynamic',
  chipids: [] as string[],
  /** Of the device book; empty: all of its devices. */
  group: '',
  /** Seconds between two readings of the online list. */
  refresh: 60 as number | string,
  datatype: 'auto-detect' as Datatype,
  ...TYPED,
  recover: 'reconnect' as 'off' | 'reconnect' | 'restart',
  /** One share of the devices, such as `${ORDINAL}/${COUNT}`; empty for all. */
  shard: '',
  /** Whether an upload goes on from here or into the cluster's queue. */
  deliver: 'here' as 'here' | 'queue',
};
export type ListenConfig = typeof DEFAULTS;

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
