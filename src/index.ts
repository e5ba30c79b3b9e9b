/**
 * The one door of the client: at most 40 names for everyday work, all in docs/inside/client.md. What this package's own nodes need
 * besides is marked as internal, which the published declarations leave out.
 */
// A project whose tsconfig names no types would not find Buffer: this asks for those of Node.js.
/// <reference types="node" preserve="true" />
export { DeviceCloudClient } from './client';
export type { ClientOptions } from './settings';
export type { ServiceTest, TestOptions } from './service-test';
export { DeviceCloudError, isDeviceCloudError, type ErrorCode } from './errors';
export { decodeUpload } from './util/decode';
export type {
  Answer,
  AppRecord,
  CallOptions,
  Chipid,
  CommandOptions,
  Datatype,
  Day,
  DeviceRecord,
  Level,
  PushFormat,
  PushMessage,
  PushOptions,
  PushRecord,
  SyncRecord,
  Upload,
  UploadRecord,
} from './types';
export type { Reply, RequestOptions } from './commands/reply';
export type { ChannelListener, Subscription } from './channel/listener';
export type { RecoverOptions } from './recovery/options';
export type { Position } from './recovery/position';
export type { Fleet } from './fleet/fleet';
export type { DeviceSnapshot } from './fleet/devices';
export type { LatestUpload } from './fleet/latest';
export type { FleetEvent, WatchOptions } from './fleet/watch/watch-types';

/** @internal */
export { ELSEWHERE, type ChannelState, type ChannelSubscription } from './channel/listener';
/** @internal */
export type { DecodedBody, RequestMatch, RequestProgress, UploadDecoder } from './commands/reply';
/** @internal */
export {
  failedTest,
  openChannels,
  type ApiTest,
  type Cause,
  type ChannelTest,
} from './service-test';
/** @internal */
export type { DeviceLimits } from './fleet/alarms';
/** @internal */
export type { Book, BookProblem, BookRow } from './fleet/book';
/** @internal */
export type { FleetChanges } from './fleet/devices';
/** @internal */
export type { LatestSource } from './fleet/latest';
/** @internal */
export type { FleetMetrics } from './fleet/fleet';
/** @internal */
export type { RecentCommand, RecentUpload } from './fleet/latest';
/** @internal */
export { readLimits, type Limit } from './fleet/limits';
/** @internal */
export type { ListReading } from './fleet/list-poller';
/** @internal */
export {
  bytesDecoder,
  decodeProblemText,
  DescriptionError,
  pairsDecoder,
  type FieldsDecoder,
  type ToText,
} from './fleet/types';
/** @internal */
export type { Watch } from './fleet/watch/watch';
/** @internal */
export type { WatchKeeping, WatchListener } from './fleet/watch/watch-types';
/** @internal */
export {
  errorOfEnd,
  plainError,
  readSaved,
  SavedCalls,
  type SavedCall,
} from './commands/saved-call';
/** @internal */
export type { WaitingCommands } from './commands/waiting';
/** @internal */
export { readSelection, withOrigin, type WaitingSelection } from './commands/waiting-list';
/** @internal */
export type { ClusterClient, Lent, SharedWaiting } from './cluster-client';
/** @internal */
export { withoutCode } from './errors';
/** @internal */
export { VERSION } from './api/signing';
/** @internal */
export type { TlsSettings } from './http/tls';
/** @internal */
export type { ClusterSettings } from './input/engine-address';
/** @internal */
export type { KeyWarning } from './input/pasted-key';
/** @internal */
export { Semaphore } from './util/semaphore';
/** @internal */
export { Slices } from './util/slices';
/** @internal */
export type { TestRecorder, TestRecording } from './fleet/test-recorder';
/** @internal */
export type { AckOptions, AckSubscription, WaitingUpload } from './recovery/acknowledged';
/** @internal */
export { isPosition } from './recovery/position';
/** @internal */
export { seemsBase64 } from './recovery/writing';
/** @internal */
export { unixOf } from './recovery/zone';
/** @internal */
export { fileNameOf, Files } from './store/files';
/** @internal */
export { SharedStore } from './store/shared';
/** @internal */
export { MEMORY, Store, type Keeping, type StorePort } from './store/store';
/** @internal */
export type { ClusterState } from './util/guard';
/** @internal */
export {
  PROVEN_KIND as HISTORY_UNDERSTOOD,
  UNPROVEN_KIND as HISTORY_NOT_UNDERSTOOD,
} from './recovery/reports';
/** @internal */
export type {
  Charset,
  KeptPin,
  PinKeeper,
  ProxySettings,
  PulseOptions,
  ResultAnswer,
  ValueOptions,
} from './types';
