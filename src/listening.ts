import type { ChannelLease, ChannelUser, RecoverOptions } from './channel-user';
import type { Channels } from './channels';
import { createPermits } from './permits';
import type { Deadlines } from './deadline';
import type { UploadRecord } from './records';
import { createRecovery, type Recovery } from './recovery/recovery';

/** Histories of one application that are read at once for recovery: commands need connections, too. */
const AT_ONCE = 8;

interface ListeningDeps {
  appid: string;
  channels: Channels;
  deadlines: Deadlines;
  readUploads: (chipid: string, signal: AbortSignal) => Promise<UploadRecord[]>;
  now: () => number;
  random: () => number;
}

/** Joins a channel as a listener, with or without recovery. */
export type Listen = (chipid: string, user: ChannelUser, recover?: RecoverOptions) => ChannelLease;

export interface Listening {
  listen: Listen;
  /** Ends every recovery; the channels are closed by themselves. */
  close(): void;
}

export function createListening(deps: ListeningDeps): Listening {
  const permits = createPermits(AT_ONCE);
  const recoveries = new Set<Recovery>();

  const read = async (
    chipid: string,
    signal: AbortSignal,
    asked: () => void,
  ): Promise<UploadRecord[]> => {
    const deadline = deps.deadlines.start(Infinity, signal);
    try {
      const turn = permits.take(deadline);
      if (turn) await turn;
    } finally {
      deadline.clear();
    }
    try {
      asked();
      return await deps.readUploads(chipid, signal);
    } finally {
      permits.give();
    }
  };

  const listen: Listen = (chipid, user, recover) => {
    if (!recover) return deps.channels.join(chipid, user);
    const recovery = createRecovery({
      appid: deps.appid,
      chipid,
      encoding: recover.encoding ?? 'text',
      read: (signal, asked) => read(chipid, signal, asked),
      fence: (passed) => lease.channel.fence(passed),
      emit: (upload) => user.onUpload?.(upload),
      fault: (text) => user.onFault?.(text),
      start: recover.start,
      save: recover.save,
      now: deps.now,
      random: deps.random,
    });
    const lease = deps.channels.join(chipid, {
      onUpload: (upload) => recovery.onUpload(upload),
      onState(state, reason) {
        if (state === 'connected') recovery.onConnected();
        else if (state === 'disconnected') recovery.onDisconnected();
        user.onState?.(state, reason);
      },
      onFault(fault) {
        recovery.onFault();
        user.onFault?.(fault);
      },
    });
    recoveries.add(recovery);
    if (lease.channel.state === 'connected') recovery.onConnected();
    return {
      channel: lease.channel,
      release() {
        recoveries.delete(recovery);
        recovery.close();
        lease.release();
      },
    };
  };

  return {
    listen,
    close() {
      for (const recovery of recoveries) recovery.close();
      recoveries.clear();
    },
  };
}
