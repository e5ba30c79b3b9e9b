/** All of the client's names that nodes use: the public ones, and what nobody else needs. The package does not export it. */
export * from './index';
export { ELSEWHERE, type ChannelState, type ChannelSubscription } from './channel/listener';
export type { Kept } from './commands/pins';
export type { DecodedBody, RequestMatch, RequestProgress, UploadDecoder } from './commands/reply';
export {
  failedTest,
  openChannels,
  type ApiTest,
  type Cause,
  type ChannelTest,
  type Problem,
} from './service-test';
export type { DeviceLimits } from './fleet/alarms';
export type { Book, BookProblem, BookRow } from './fleet/book';
export type { FleetChanges } from './fleet/device';
export type { LatestSource } from './fleet/latest';
export { JUDGE } from './fleet/fleet';
export type { FleetMetrics } from './fleet/metrics';
export type { RecentCommand, RecentUpload } from './fleet/recent';
export { readLimits, type Limit } from './fleet/limits';
export type { ListReading } from './fleet/list-poller';
export {
  bytesDecoder,
  decodeProblemText,
  DescriptionError,
  pairsDecoder,
  type FieldsDecoder,
  type ToText,
} from './fleet/types';
export type { Watch } from './fleet/watch/watch';
export type { WatchListener } from './fleet/watch/watch-types';
export {
  errorOfEnd,
  readSaved,
  SavedCalls,
  type Result,
  type SavedCall,
} from './commands/saved-call';
export {
  readSelection,
  withOrigin,
  type WaitingCommands,
  type WaitingSelection,
} from './commands/waiting-list';
export type { ClusterClient, Lent, SharedWaiting } from './cluster-client';
export { withoutCode } from './errors';
export { VERSION } from './http/headers';
export type { TlsSettings } from './http/tls';
export type { ClusterSettings } from './input/engine-address';
export type { KeyWarning } from './input/pasted-key';
export { Semaphore } from './util/semaphore';
export { Slices } from './util/slices';
export type { TestRecorder, TestRecording } from './fleet/test-recorder';
export type { AckOptions, AckSubscription, WaitingUpload } from './recovery/acknowledged';
export { isPosition } from './recovery/position';
export { seemsBase64 } from './recovery/writing';
export { fileNameOf, Files } from './store/files';
export { SharedStore } from './store/shared';
export { MEMORY, Store, type Keeping, type StorePort } from './store/store';
export type { ClusterState } from './util/guard';
export {
  PROVEN_KIND as HISTORY_UNDERSTOOD,
  UNPROVEN_KIND as HISTORY_NOT_UNDERSTOOD,
} from './recovery/reports';
export type {
  Charset,
  KeptPin,
  Pin,
  PinKeeper,
  ProxySettings,
  PulseOptions,
  ResultAnswer,
  ValueOptions,
} from './types';
