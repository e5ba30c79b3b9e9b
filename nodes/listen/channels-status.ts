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
const FIRST_READING: NodeStatus = { fill: 'yellow', shape: 'dot', text: 'status.first-reading' };

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

/**
 * What a listener shows for all its channels together: `connected`; `3/5` when there are several; and what waits for an
 * acknowledgement, with what is wrong with the channels before it. While the history of any of them is not understood, it says so
 * instead.
 * @param isKept whether the positions survive a restart, where they are meant to
 */
export function channelsStatus(states: Iterable<DeviceState>, isKept = true): NodeStatus {
  const all = [...states];
  const here = all.filter(({ reason }) => reason !== ELSEWHERE);
  const total = here.length;
  if (total === 0) return all.length > 0 ? STATUS.elsewhere : STATUS.noDevices;
  const connected = here.filter(({ state }) => state === 'connected').length;
  if (connected > 0) {
    if (here.some(({ isHistoryUnclear }) => isHistoryUnclear)) return HISTORY_UNCLEAR;
    if (!isKept) return STATUS.notKept;
    if (here.some(({ waiting }) => waiting?.hasPosition === false)) return FIRST_READING;
  }
  const refused = here.find(({ reason }) => reason === '401' || reason === '403')?.reason;
  const isConnecting = here.some(({ state }) => state === 'connecting');
  const waits = here.flatMap(({ waiting }) => waiting?.waitedFor ?? []);
  const longest = waits.reduce((before, each) => Math.max(before, each), 0);
  if (longest >= BRIEF) {
    const text = waitingText(waits.length, longest);
    if (connected === total) return { fill: 'blue', shape: 'dot', text };
    const isDown = refused !== undefined || (connected === 0 && !isConnecting);
    const what = refused ?? `${connected}/${total}`;
    return { fill: isDown ? 'red' : 'yellow', shape: 'ring', text: `${what} ${text}` };
  }
  if (connected > 0)
    return all.length > 1
      ? { ...STATUS.connected, text: `${connected}/${total}` }
      : STATUS.connected;
  if (refused !== undefined) return STATUS.unauthorized;
  return isConnecting ? STATUS.connecting : STATUS.disconnected;
}
