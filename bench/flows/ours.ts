import { app, node } from '../../test/e2e/harness/nodes';
import type { FlowNode } from '../../test/e2e/harness/flows';
import { chipids, IDENTITY } from '../identity';
import { ends, placed } from './own-nodes';

/* This package's nodes, as the editor saves new ones. */

const service = (baseUrl: string): FlowNode => app({ baseUrl, ...IDENTITY });

function ours(id: string, made: ReturnType<typeof node>): FlowNode {
  const { type, ...properties } = made;
  return placed(id, type as string, properties, 'sink');
}

/** A push node. */
export const ourPush = (baseUrl: string): FlowNode[] => [
  ...ends('push'),
  service(baseUrl),
  ours('push', node('push')),
];

/** A listen node. */
export const ourUploads = (
  baseUrl: string,
  channels: number,
  recover: 'off' | 'reconnect',
): FlowNode[] => [
  ...ends(undefined),
  service(baseUrl),
  ours('listen', node('listen', { chipids: chipids(channels), recover })),
];
