import type { ListenConfig } from '../../nodes/listen/listen.config';
import type { Job, Subject } from '../scenario';
import { bareChannels, type BareUpload } from './bare-channels';
import { bareReconnecting } from './bare-reconnecting';
import { coreUploads } from './core-flows';
import { createEnds, endNodes, registerEnds } from './ends';
import { startNodeRed } from './node-red';
import { ourUploads } from './our-flows';

/** The subjects that receive uploads on channels. */
export const LIMIT: Subject = { name: 'limit', label: 'bare ws' };
export const FLOOR: Subject = { name: 'floor', label: "bare ws and a bare node's send" };
export const CORE: Subject = { name: 'core', label: 'core: websocket in → json → function' };
export const OURS: Subject = { name: 'ours', label: 'listen node' };
export const OURS_OFF: Subject = { name: 'ours-off', label: 'listen node, recover: off' };
export const OURS_KEPT: Subject = { name: 'ours-kept', label: 'listen node, recover: restart' };

/** A subject that reconnects, and receives nothing. */
export const RECONNECTING: Subject = {
  name: 'limit-reconnecting',
  label: 'bare ws behind the same limiter',
};

const RECOVER: Partial<Record<string, ListenConfig['recover']>> = {
  [OURS_OFF.name]: 'off',
  [OURS_KEPT.name]: 'restart',
};

/** Opens channels up to a given number; it may return before they are open. */
export type Open = (channels: number) => Promise<void>;

/** What opens the channels of a subject. */
export async function opener(
  { subject, packageFolder }: Job,
  baseUrl: string,
  onUpload: (upload: { payload?: unknown }) => void,
): Promise<Open> {
  if (subject === LIMIT.name) return bareChannels(baseUrl, onUpload);
  if (subject === RECONNECTING.name) return bareReconnecting(baseUrl, packageFolder);
  const ends = createEnds();
  ends.onMessage = onUpload;
  const nodeRed = await startNodeRed(packageFolder, registerEnds(ends));
  if (subject === 'floor') {
    await nodeRed.deploy(endNodes('sink'));
    return bareChannels(baseUrl, (upload: BareUpload) => ends.send({ ...upload }));
  }
  return (channels) => {
    if (subject === 'core') return nodeRed.deploy(coreUploads(baseUrl, channels));
    return nodeRed.deploy(ourUploads(baseUrl, channels, RECOVER[subject] ?? 'reconnect'));
  };
}
