import type { TlsSettings } from '../http/tls';
import type { Upload } from '../types';

/** Where a cluster is, and what it is about. Names are those of the config node `device-cloud-cluster`. */
export interface ClusterSettings {
  /** `redis://` or `rediss://`, host and port; several of a Redis Cluster, comma separated. Or `sentinels`. */
  url?: string;
  /** Host and port of each Sentinel, comma separated. */
  sentinels?: string;
  /** The name under which the Sentinels know the primary. */
  master?: string;
  /** Takes precedence over the user in `url`. */
  user?: string;
  /** Takes precedence over the password in `url`. */
  password?: string;
  /** TLS settings; default with `rediss://`: the settings of Node.js. */
  tls?: TlsSettings;
  /** Milliseconds after which the devices of a process that is gone are taken over; default 5000, from 2000 to 60,000. */
  lease?: number;
  /** Distinguishes the applications that share an engine: the address of the service and the appid. */
  application: string;
}

/** What is wrong with the settings of a cluster or of its engine: the user or the password, the user's rights, TLS. */
export type WrongSetting = 'password' | 'rights' | 'tls';

/** A wrong setting that keeps a process from the engine until somebody changes it. */
export interface ClusterProblem {
  /** Which one: the user or the password, the user's rights, or TLS. */
  readonly setting: WrongSetting;
  /** The engine's words, without secrets. */
  readonly message: string;
}

/** Is called with changes. */
export interface ClusterListener {
  /** The devices that this process holds have changed: see {@link ClusterMember.owners}. */
  onShare?(): void;
  /** Uploads that were held back may be emitted now, from the last position on, and channels may be opened. */
  onResumed?(): void;
  /** {@link ClusterMember.state} has changed. */
  onState?(state: ClusterState): void;
  /** {@link ClusterMember.problem} has changed. */
  onProblem?(problem: ClusterProblem | undefined): void;
  /** Processes have joined, left or died: {@link ClusterMember.members}. */
  onMembers?(): void;
  /**
   * The engine cannot be reached, or it or another process has sent something malformed, which is ignored.
   * @param fault text for the log
   * @param kind equal for all faults of one kind
   */
  onFault?(fault: string, kind?: string): void;
}

/**
 * `joining`: not a member yet. `member`: it may act for its devices. `awaiting`: the engine cannot be reached, or has
 * just been restarted; nothing is emitted until it is certain that no other process emits the same.
 */
export type ClusterState = 'joining' | 'member' | 'awaiting' | 'closed';

/** How much the queue holds. */
export interface QueueState {
  /** Uploads that are not acknowledged. */
  readonly length: number;
  /** Uploads that were delivered as often as allowed, and never acknowledged. */
  readonly deadLetters: number;
}

/** The facts that the Test button of the configuration shows. */
export interface StoreInfo {
  /** Redis or Valkey; empty if the engine does not say. */
  readonly product: string;
  /** As the engine writes it; empty if it does not say. */
  readonly version: string;
  /** Milliseconds since 1970 by the store's clock; NaN if it may not be read. */
  readonly time: number;
  /** The ids of the processes that share the application's devices. */
  readonly members: readonly string[];
  /** What survives a restart; undefined if the store does not say. */
  readonly persistence: 'none' | 'snapshots' | 'log' | undefined;
  /** What is evicted when memory is short; anything but `noeviction` may lose positions. */
  readonly eviction: string | undefined;
  /** How many replicas are connected; undefined if the store does not say. */
  readonly replicas: number | undefined;
  /** The rights that the user lacks, in the syntax of an ACL, such as `+info`. */
  readonly forbidden: readonly string[];
}

/** An upload of the queue that is to be handled and acknowledged. */
export interface ClusterJob {
  /** Acknowledges it, in any process: see {@link ClusterMember.acknowledge}. */
  readonly token: string;
  /** The device, as digits. */
  readonly chipid: string;
  /** The upload, as a listener would have received it. */
  readonly upload: Upload;
  /** Whether it may have been delivered before, by any process, and was not acknowledged. */
  readonly redelivered: boolean;
}

/** How a process works on the queue. */
export interface ClusterWork {
  /**
   * Uploads that are handled at a time, 1 to 10,000; default 16. One that is not acknowledged for a tenth of `redeliver`,
   * and twice as long as others take, no longer counts, so that its device holds back no other.
   */
  inFlight?: number;
  /** Milliseconds after which an upload that was not acknowledged is delivered again; default 60,000. */
  redeliver?: number;
  /** How often an upload is delivered, 1 to 1000, default 5; then it is a dead letter, and the device's next one follows. */
  attempts?: number;
  /** Called with each upload: of one device in order, each after the previous one was acknowledged. */
  deliver: (job: ClusterJob) => void;
}

/** Which process holds which device at a moment. */
export interface DeviceOwners {
  /** The id of the member that holds a device; undefined if none does. */
  of(chipid: string): string | undefined;
}

/**
 * This process's membership in a cluster of processes that share the devices of an application. It outlives the
 * clients that use it, so that a new one continues with the same devices.
 */
export interface ClusterMember {
  /** The id of this process: the host's name and a random part, new at each start. */
  readonly member: string;
  /** The ids of all members, as of the last exchange with the engine; this one's included. */
  readonly members: readonly string[];
  /** Whether it may act for its devices at present. */
  readonly state: ClusterState;
  /**
   * Why it cannot work until somebody changes a setting: the password, the user's rights, TLS. Undefined as long as
   * waiting may help.
   */
  readonly problem: ClusterProblem | undefined;
  /** Calls the listener with changes from now on; what it throws is ignored. @returns a function that ends it */
  listen(listener: ClusterListener): () => void;
  /**
   * Reads which process holds which device. Calls within two seconds share an answer.
   * @throws DeviceCloudError `UNREACHABLE`
   */
  owners(): Promise<DeviceOwners>;
  /**
   * Takes a share of the queue and delivers its uploads.
   * @returns a function that ends it; unacknowledged uploads are then delivered elsewhere
   * @throws DeviceCloudError `INVALID_INPUT` if an option is wrong, `NOT_CONFIGURED` if this process works already
   */
  work(work: ClusterWork): () => void;
  /**
   * Acknowledges an upload of the queue, whichever process delivered it.
   * @returns whether it had not been acknowledged before
   * @throws DeviceCloudError `INVALID_INPUT` if it is not a token, `UNREACHABLE`
   */
  acknowledge(token: string): Promise<boolean>;
  /**
   * Reads how many uploads of the queue are not acknowledged, and how many were given up: those are dead letters.
   * @throws DeviceCloudError `UNREACHABLE`
   */
  queueState(): Promise<QueueState>;
  /**
   * Reads what the engine is and how it is configured.
   * @throws DeviceCloudError `UNREACHABLE`
   */
  info(): Promise<StoreInfo>;
  /** Leaves, which frees the devices for the others at once, and closes the connection. Idempotent. */
  close(): Promise<void>;
}
