/**
 * The one door of the client: at most 40 names for everyday work, all in docs/inside/client.md. What this package's own nodes need
 * besides is marked as internal, which the published declarations leave out. test/src/walls.test.ts lists the imports that pass by it.
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
export { VERSION } from './api/signing';
/** @internal */
export { type ChannelState, type ChannelSubscription, ELSEWHERE } from './channel/listener';
/** @internal */
export type { ClusterClient, Lent, SharedWaiting } from './cluster-client';
/** @internal */
export type { DecodedBody, RequestMatch, RequestProgress, UploadDecoder } from './commands/reply';
/** @internal */
export {
  errorOfEnd,
  plainError,
  readSaved,
  type SavedCall,
  SavedCalls,
} from './commands/saved-call';
/** @internal */
export type { WaitingCommands } from './commands/waiting';
/** @internal */
export { readSelection, type WaitingSelection, withOrigin } from './commands/waiting-list';
/** @internal */
export { invalidInput, notConfigured, withoutCode } from './errors';
/** @internal */
export type { DeviceLimits } from './fleet/alarms';
/** @internal */
export type { Book, BookProblem, BookRow } from './fleet/book';
/** @internal */
export type { FleetChanges } from './fleet/devices';
/** @internal */
export type { FleetMetrics } from './fleet/fleet';
/** @internal */
export type { LatestSource, RecentCommand, RecentUpload } from './fleet/latest';
/** @internal */
export { type Limit, readLimits } from './fleet/limits';
/** @internal */
export type { ListReading } from './fleet/list-poller';
/** @internal */
export type { TestRecorder, TestRecording } from './fleet/test-recorder';
/** @internal */
export {
  bytesDecoder,
  decodeProblemText,
  DescriptionError,
  type FieldsDecoder,
  pairsDecoder,
  type ToText,
} from './fleet/types';
/** @internal */
export type { Watch } from './fleet/watch/watch';
/** @internal */
export type { WatchKeeping, WatchListener } from './fleet/watch/watch-types';
/** @internal */
export type { TlsSettings } from './http/tls';
/** @internal */
export { parsePeriod } from './input/day';
/** @internal */
export { type ClusterSettings, readAddress } from './input/engine-address';
/** @internal */
export { type LevelCodes, parseCodes, parseDuration, parseLevel, parsePin } from './input/gpio';
/** @internal */
export { type KeyWarning, keyWarnings } from './input/pasted-key';
/** @internal */
export {
  chipidOf,
  dropLeadingZeros,
  parseChipid,
  parseChipids,
  parseDatatype,
  parseFormat,
  parseKey,
  parseValueDatatype,
  pushMessage,
  readInput,
} from './input/values';
/** @internal */
export type { AckOptions, AckSubscription, WaitingUpload } from './recovery/acknowledged';
/** @internal */
export { isPosition } from './recovery/position';
/** @internal */
export {
  PROVEN_KIND as HISTORY_UNDERSTOOD,
  UNPROVEN_KIND as HISTORY_NOT_UNDERSTOOD,
} from './recovery/reports';
/** @internal */
export { seemsBase64 } from './recovery/writing';
/** @internal */
export { unixOf } from './recovery/zone';
/** @internal */
export {
  type ApiTest,
  type Cause,
  type ChannelTest,
  failedTest,
  openChannels,
} from './service-test';
/** @internal */
export { fileNameOf, Files } from './store/files';
/** @internal */
export { SharedStore } from './store/shared';
/** @internal */
export { type Keeping, MEMORY, Store, type StorePort } from './store/store';
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
/** @internal */
export { readCsv } from './util/csv';
/** @internal */
export { decodeBase64, uploadText } from './util/decode';
/** @internal */
export type { ClusterState } from './util/guard';
/** @internal */
export { JsonLimitError, parseJson } from './util/json';
/** @internal */
export { decode, encode } from './util/message';
/** @internal */
export { Pattern } from './util/pattern';
/** @internal */
export { Semaphore } from './util/semaphore';
/** @internal */
export { oneLine, printable, show } from './util/show';
/** @internal */
export { Slices } from './util/slices';
