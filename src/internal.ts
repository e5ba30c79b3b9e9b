/** What nodes, command line and tests of flows need of the client, and its users do not: see index.ts, through which they import it. */
export { VERSION } from './protocol/signing';
export { type ChannelState, type ChannelSubscription, ELSEWHERE } from './channel/listener';
export type { ClusterClient, Lent, SharedWaiting } from './cluster-client';
export type { DecodedBody, RequestMatch, RequestProgress, UploadDecoder } from './commands/reply';
export {
  endOf,
  errorOfEnd,
  plainError,
  readSaved,
  type SavedCall,
  SavedCalls,
  type SavedCommand,
  valueOfResult,
} from './commands/saved-call';
export type { WaitingCommands } from './commands/waiting';
export { readSelection, type WaitingSelection, withOrigin } from './commands/waiting-list';
export { invalidInput, notConfigured, withoutCode } from './errors';
export type { DeviceLimits } from './fleet/alarms';
export type { Book, BookProblem, BookRow } from './fleet/book';
export type { FleetChanges } from './fleet/devices';
export type { FleetMetrics } from './fleet/fleet';
export type { LatestSource, RecentCommand, RecentUpload } from './fleet/latest';
export { type Limit, readLimits } from './fleet/limits';
export type { ListReading } from './fleet/list-poller';
export type { TestRecorder, TestRecording } from './fleet/test-recorder';
export {
  bytesDecoder,
  decodeProblemText,
  DescriptionError,
  type FieldsDecoder,
  pairsDecoder,
  type ToText,
} from './fleet/types';
export type { Watch } from './fleet/watch/watch';
export type { WatchKeeping, WatchListener } from './fleet/watch/watch-types';
export type { TlsSettings } from './http/tls';
export { parsePeriod } from './protocol/day';
export { type ClusterSettings, readAddress } from './protocol/engine-address';
export { type LevelCodes, parseCodes, parseDuration, parseLevel, parsePin } from './protocol/gpio';
export { type KeyWarning, keyWarnings } from './protocol/pasted-key';
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
} from './protocol/values';
export type { AckOptions, AckSubscription, WaitingUpload } from './recovery/options';
export { isPosition } from './recovery/position';
export {
  PROVEN_KIND as HISTORY_UNDERSTOOD,
  UNPROVEN_KIND as HISTORY_NOT_UNDERSTOOD,
} from './recovery/reports';
export { seemsBase64 } from './recovery/writing';
export { unixOf } from './recovery/zone';
export {
  type ApiTest,
  type Cause,
  type ChannelTest,
  failedTest,
  openChannels,
} from './service-test';
export { fileNameOf, Files } from './store/files';
export { SharedStore } from './store/shared';
export { type Keeping, MEMORY, Store, type StorePort } from './store/store';
export type {
  Charset,
  KeptPin,
  PinKeeper,
  ProxySettings,
  PulseOptions,
  ResultAnswer,
  ValueOptions,
} from './types';
export { readCsv } from './util/csv';
export { decodeBase64, uploadText } from './util/decode';
export type { ClusterState } from './util/guard';
export { decode, encode, JsonLimitError, parseJson } from './util/json';
export { Pattern } from './util/pattern';
export { Semaphore } from './util/semaphore';
export { deviceTitle, oneLine, printable, show } from './util/show';
export { Slices } from './util/slices';
