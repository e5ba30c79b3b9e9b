import type { Faults } from '../faults/faults';
import { CLOSE_REPLACED } from '../assumptions';
import type { UploadEntry } from '../devices/history';
import { keepsUp, type Channel, type UploadEvent } from '../transport/open-channel';
import type { Settings } from '../options/options';

/** How channels are closed. */
export interface CloseOptions {
  /** Close code, default 1001. */
  code?: number;
  /** Breaks the connection off without a closing handshake: the other side sees 1006. */
  terminate?: boolean;
}

/** The open channels. */
export interface Channels {
  add(channel: Channel): void;
  remove(channel: Channel): void;
  /** Sends an upload to every channel of its device. */
  announce(upload: UploadEntry): void;
  /** Closes the channels of one device, or all. */
  close(chipid: string | undefined, options: CloseOptions): void;
  count(chipid: string | undefined): number;
}

export function createChannels(settings: Settings, faults: Faults): Channels {
  const channels = new Set<Channel>();
  const of = (chipid: string | undefined): Channel[] =>
    [...channels].filter((channel) => chipid === undefined || channel.chipid === chipid);

  const eventOf = ({ chipid, bytes, at, type }: UploadEntry): UploadEvent => ({
    type,
    appid: settings.appid,
    chipid,
    timestamp: String(settings.eventTimestamp === 's' ? Math.floor(at / 1000) : Math.floor(at)),
    body: bytes.toString('base64'),
  });

  return {
    add(channel) {
      if (settings.replace)
        for (const { socket } of of(channel.chipid)) socket.close(CLOSE_REPLACED);
      channels.add(channel);
    },
    remove: (channel) => void channels.delete(channel),
    announce(upload) {
      const event = eventOf(upload);
      const frame = JSON.stringify(event);
      for (const channel of of(upload.chipid).filter(keepsUp)) {
        const fault = faults.claimEvent(channel.chipid);
        if (fault) fault(channel, event);
        else channel.socket.send(frame);
      }
    },
    close(chipid, { code = 1001, terminate = false }) {
      for (const { socket } of of(chipid)) {
        // No side can send 1006: it means a connection that was cut.
        if (terminate || code === 1006) socket.terminate();
        else socket.close(code);
      }
    },
    count: (chipid) => of(chipid).length,
  };
}
