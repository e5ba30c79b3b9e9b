/** The latest upload of a device, as a process keeps it. */
export interface KnownUpload {
  readonly chipid: string;
  readonly body: Buffer;
  readonly truncated: boolean;
  /** Unix time in milliseconds, by the service's clock. */
  readonly timestamp: number;
  readonly source: 'live' | 'replayed' | 'history';
  readonly altered?: true;
}

/** The latest uploads that other processes know. */
export interface OtherLatest {
  /** @param chipid of one device; default: of all */
  ask(chipid?: string): Promise<readonly KnownUpload[]>;
}
