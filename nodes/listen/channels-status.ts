import type { NodeStatus } from 'node-red';
import { ELSEWHERE, type ChannelState } from '../../src/index';
import { STATUS } from '../common/status';

/** Milliseconds. */
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The state of one device's channel. */
export interface DeviceState {
  readonly state: ChannelState;
  readonly reason: string | undefined;
  /** Its history does not contain what arrived live: missed uploads are not recovered. */
  readonly isHistoryUnclear?: boolean;
  /** Of a listener that waits for acknowledgements. */
  readonly waiting?: Waiting | undefined;
}

interface Waiting {
  /** For how long an upload has waited, in milliseconds; undefined if none waits. */
  readonly waitedFor: number | undefined;
  /** Whether there is something to go back to. */
  readonly hasPosition: boolean;
}

/** Live uploads come, those that were missed do not. */
const HISTORY_UNCLEAR: NodeStatus = {
  fill: 'yellow',
  shape: 'dot',
  text: 'status.history-unclear',
};

/** What comes before the first reading of a history is lost if the process ends. */
const FIRST_READING: NodeStatus = {
  fill: 'yellow',
  shape: 'dot',
  text: 'status.first-reading',
};

/** What usual flows take is not shown, and seconds only by tens, in milliseconds. */
const BRIEF = 1000;
const TENS = 10_000;

/** How many devices wait for an acknowledgement, and how long the first of them has. The units are the same in all languages. */
function waitingText(count: number, longest: number): string {
  const age =
    longest < MINUTE
      ? `${Math.floor(longest / TENS) * 10} s`
      : longest < HOUR
        ? `${Math.floor(longest / MINUTE)} min`
        : longest < DAY
          ? `${Math.floor(longest / HOUR)} h`
          : `${Math.floor(longest / DAY)} d`;
  return longest < TENS ? `⏳ ${count}` : `⏳ ${count} · ${age}`;
}

/** The same; before it, what is wrong with the channels: how many are connected, or that they are refused. */
function waitingStatus({ total, connected, refused, ...some }: Counts): NodeStatus {
  const text = waitingText(some.waiting, some.longest);
  if (connected === total) return { fill: 'blue', shape: 'dot', text };
  const problem = { shape: 'ring', text: `${refused ?? `${connected}/${total}`} ${text}` } as const;
  const isDown = refused !== undefined || (connected === 0 && !some.connecting);
  return { fill: isDown ? 'red' : 'yellow', ...problem };
}

/** What is counted of the channels of a listener. */
function count(states: Iterable<DeviceState>) {
  const counts = {
    ...{ total: 0, connected: 0, connecting: false, isHistoryUnclear: false },
    ...{ isUnread: false, waiting: 0, longest: 0, elsewhere: 0 },
    /** The status with which the service refuses a channel. */
    refused: undefined as string | undefined,
  };
  for (const { state, reason, isHistoryUnclear, waiting } of states) {
    if (reason === ELSEWHERE) {
      counts.elsewhere++;
      continue;
    }
    if (isHistoryUnclear) counts.isHistoryUnclear = true;
    if (waiting && !waiting.hasPosition) counts.isUnread = true;
    const waitedFor = waiting?.waitedFor;
    if (waitedFor !== undefined) counts.waiting++;
    counts.longest = Math.max(counts.longest, waitedFor ?? 0);
    counts.total++;
    if (state === 'connected') counts.connected++;
    else if (state === 'connecting') counts.connecting = true;
    if (reason === '401' || reason === '403') counts.refused = reason;
  }
  return counts;
}

type Counts = ReturnType<typeof count>;

/**
 * What a listener shows for all its channels together: `connected`; `3/5` when there are several; and what waits for an
 * acknowledgement. While the history of any of them is not understood, it says so instead.
 * @param isKept whether the positions survive a restart, where they are meant to
 */
export function channelsStatus(states: Iterable<DeviceState>, isKept = true): NodeStatus {
  const counts = count(states);
  const { total, connected, ...some } = counts;
  if (total === 0) return some.elsewhere > 0 ? STATUS.elsewhere : STATUS.noDevices;
  if (connected > 0 && some.isHistoryUnclear) return HISTORY_UNCLEAR;
  if (connected > 0 && !isKept) return STATUS.notKept;
  if (connected > 0 && some.isUnread) return FIRST_READING;
  if (some.longest >= BRIEF) return waitingStatus(counts);
  if (connected > 0)
    return total + some.elsewhere > 1
      ? { ...STATUS.connected, text: `${connected}/${total}` }
      : STATUS.connected;
  if (some.refused !== undefined) return STATUS.unauthorized;
  return some.connecting ? STATUS.connecting : STATUS.disconnected;
}
