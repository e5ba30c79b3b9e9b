import type { Upload } from './frames';

/**
 * Where a channel stands. `disconnected` is a pause before the next attempt, never the end: only the
 * release of the last subscription, or the client's close, ends a channel.
 */
export type ChannelState = 'connecting' | 'connected' | 'disconnected';

/**
 * Who listens on a channel or pushes over it. The same object may join several times: each time it is
 * another user.
 *
 * An error that a callback throws, or that the promise of an async one rejects with, goes no further:
 * the channel, its other users and the process go on, and so do later uploads. It is reported to the
 * user's own `onFault`, once for each error; what `onFault` itself throws is dropped. A user without
 * `onFault` gets a warning of the process (`process.on('warning')`), at most one a minute. A callback
 * may join and release, and may close the client; after a release nothing is called any more.
 */
export interface ChannelListener {
  /** An upload has arrived, or has been recovered. */
  onUpload?(upload: Upload): void;
  /**
   * The channel has come up or gone down.
   * @param reason why a connection ended or did not come about; never with a URL in it
   */
  onState?(state: ChannelState, reason?: string): void;
  /**
   * Something came that is not what section 6 describes: it was left out, or corrected as the text
   * says. Or missed uploads cannot be recovered for now. Or a callback of this user threw.
   * @param fault words for the log, without what was uploaded
   * @param kind the same for all faults of a kind, whatever ids and numbers the text has; default: the text
   */
  onFault?(fault: string, kind?: string): void;
  /** What came could not be read, and may have been an upload: it can only be had from the history. */
  onGap?(): void;
}

/** What a user sees of a channel. */
export interface ChannelView {
  /** Of the three, the present one. */
  readonly state: ChannelState;
  /**
   * Why the channel is not connected, if it is known: an HTTP status (`401`), a close code (`1001`), a
   * code of Node.js (`ECONNREFUSED`), or `SILENT`.
   */
  readonly reason: string | undefined;
}

/** A place on the channel of one device, given back when it is no longer needed. */
export interface ChannelSubscription {
  /** Where the channel stands now. */
  readonly channel: ChannelView;
  /** Leaves the channel; with its last user it is closed. May be called again. */
  release(): void;
}
