// A project whose tsconfig names no types would not find Buffer: this asks for those of Node.js.
/// <reference types="node" preserve="true" />
export { DeviceCloudClient } from './client';
export type { ClientOptions } from './settings';
export type { TlsSettings } from './http/tls';
export { joinCluster, testCluster } from './client';
export type {
  ClusterJob,
  ClusterListener,
  ClusterMember,
  ClusterProblem,
  ClusterSettings,
  ClusterState,
  ClusterWork,
  DeviceOwners,
  QueueState,
  StoreInfo,
} from './cluster/types';
export type {
  ChannelSubscription,
  ChannelState,
  ChannelListener,
  ChannelView,
} from './channel/listener';
export type { Fleet } from './fleet/fleet';
export type { DeviceSnapshot, FleetChanges, FleetError, ReportedError } from './fleet/device';
export type { LatestSource, LatestUpload } from './fleet/latest';
export type { HistoryOptions } from './fleet/latest-history';
export type { ListUser, ListReading } from './fleet/list-poller';
export type {
  FleetEvent,
  FleetEventKind,
  FleetEventName,
  FleetWatch,
  WatchListener,
  WatchOptions,
} from './fleet/watch/watch-types';
export type { Deliver, RecoverOptions } from './recovery/options';
export { isPosition, type Position } from './recovery/position';
export {
  PROVEN_KIND as HISTORY_UNDERSTOOD,
  UNPROVEN_KIND as HISTORY_NOT_UNDERSTOOD,
} from './recovery/reports';
export type { Edge } from './recovery/ids';
export {
  guessEncoding,
  type HistoryForm as Encoding,
  type HistoryFormSetting as EncodingSetting,
} from './history/form';
export type { Reply, RequestMatch, RequestOptions, RequestProgress } from './commands/reply/types';
export * from './types';
export type { Explanation, ExplainNote, ExplainWarning } from './api/explain';
export type { ExplainedArguments, ExplainedCall } from './explain-call';
export type { UploadPatterns } from './commands/reply/types';
export type { KeyFault, KeyWarning } from './input/pasted-key';
export { decodeUpload } from './util/decode';
export { DeviceCloudError, ERROR_CODES, isDeviceCloudError, type ErrorCode } from './errors';
export { signOpenApi, signServerApi, type Params, type ServerApiRequest } from './api/signing';
