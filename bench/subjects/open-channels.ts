import type { ListenConfig } from '../../nodes/listen/listen.config';
import type { Job, Subject } from '../scenario';
import { AT_ONCE, bareChannels, type BareUpload } from './bare-channels';
import { bareHistories } from './bare-histories';
import { bareReconnecting } from './bare-reconnecting';
import { coreUploads } from './core-flows';
import { createEnds, endNodes, registerEnds } from './ends';
import { startNodeRed } from './node-red';
import { ourFleet, ourUploads } from './our-flows';

/** The subjects that receive uploads on channels. */
export const LIMIT: Subject = { name: 'limit', label: 'bare ws' };
export const FLOOR: Subject = { name: 'floor', label: "bare ws and a bare node's send" };
export const CORE: Subject = { name: 'core', label: 'core: websocket in → json → function' };
export const OURS: Subject = { name: 'ours', label: 'listen node' };
export const OURS_OFF: Subject = { name: 'ours-off', label: 'listen node, recover: off' };
export const OURS_KEPT: Subject = { name: 'ours-kept', label: 'listen node, recover: restart' };
export const OURS_FLEET: Subject = { name: 'ours-fleet', label: 'listen, events and latest nodes' };
export const OURS_BYTES: Subject = { name: 'ours-bytes', label: 'listen node, a type with bytes' };
export const OURS_PAIRS: Subject = { name: 'ours-pairs', label: 'listen node, a type with pairs' };

/** A subject that reads the history of each device once its channel is open, as recovery does. */
export const LIMIT_READING: Subject = {
  name: 'limit-reading',
  label: 'bare ws, and undici that reads each history',
};

/** A subject that reconnects, and receives nothing. */
export const RECONNECTING: Subject = {
  name: 'limit-reconnecting',
  label: 'bare ws behind the same limiter',
};

const RECOVER: Partial<Record<string, ListenConfig['recover']>> = {
  [OURS_OFF.name]: 'off',
  [OURS_KEPT.name]: 'restart',
};

const DECODE: Partial<Record<string, 'bytes' | 'pairs'>> = {
  [OURS_BYTES.name]: 'bytes',
  [OURS_PAIRS.name]: 'pairs',
};

/** Opens channels up to a given number; it may return before they are open. */
export type Open = (channels: number) => Promise<void>;

/** Channels that are opened with the readings of their histories in between. */
async function readingChannels(
  baseUrl: string,
  onUpload: (upload: BareUpload) => void,
): Promise<Open> {
  const openMore = await bareChannels(baseUrl, onUpload);
  const histories = await bareHistories(baseUrl);
  let opened = 0;
  return async (channels) => {
    while (opened < channels) {
      const next = Math.min(opened + AT_ONCE, channels);
      await openMore(next);
      await histories.read(opened, next);
      opened = next;
    }
  };
}

/** What opens the channels of a subject. */
export async function opener(
  { subject, packageFolder }: Job,
  baseUrl: string,
  onUpload: (upload: { payload?: unknown }) => void,
): Promise<Open> {
  if (subject === LIMIT.name) return bareChannels(baseUrl, onUpload);
  if (subject === LIMIT_READING.name) return readingChannels(baseUrl, onUpload);
  if (subject === RECONNECTING.name) return bareReconnecting(baseUrl, packageFolder);
  const ends = createEnds();
  const decode = DECODE[subject];
  // Its bytes are what was uploaded.
  ends.onMessage = decode ? (msg) => onUpload({ payload: msg['raw'] }) : onUpload;
  const nodeRed = await startNodeRed(packageFolder, registerEnds(ends));
  if (subject === 'floor') {
    await nodeRed.deploy(endNodes('sink'));
    return bareChannels(baseUrl, (upload: BareUpload) => ends.send({ ...upload }));
  }
  return (channels) => {
    if (subject === 'core') return nodeRed.deploy(coreUploads(baseUrl, channels));
    const listening = ourUploads(baseUrl, channels, RECOVER[subject] ?? 'reconnect', decode);
    return nodeRed.deploy(subject === OURS_FLEET.name ? [...listening, ...ourFleet()] : listening);
  };
}
