/** The option of a client with a guard: not for its users. */
export const GUARD = Symbol('guard');

/** Stands for the whole application in the place of a device. */
export const WHOLE = '*';

/**
 * `joining`: no share was given yet; `awaiting`: the engine is away; `refused`: somebody has to change something before this process
 * can do its part; `joined`.
 */
export type ClusterState = 'joining' | 'awaiting' | 'refused' | 'joined';

/** Says what this process may do with devices that several processes share. A process alone may do all, and has none. */
export interface Guard {
  /** Whether what a device has uploaded may be emitted now. */
  mayEmit(chipid: string): boolean;
  /**
   * Sends a command, in the one place where that is done, once no other process can have one under way to the device.
   * @param ms that the command may take
   * @throws what it likes, if the command was certainly not sent
   */
  send<T>(chipid: string, ms: number, send: () => Promise<T>): Promise<T>;
}
