export { DeviceCloudClient } from './client';
export type { ClientOptions, TlsSettings } from './settings';
export type { ProxySettings } from './proxy';
export type {
  CallOptions,
  Chipid,
  Day,
  JsonObject,
  Level,
  Pin,
  PushMessage,
  PushOptions,
  Query,
} from './inputs';
export type { Answer, PushAnswer, RefreshAnswer, ResultAnswer } from './answers';
export type {
  ChannelLease,
  ChannelState,
  ChannelUser,
  ChannelView,
  RecoverOptions,
} from './channel-user';
export type { Position } from './recovery/position';
export type { Edge } from './recovery/edge';
export type { Encoding, EncodingSetting } from './recovery/facts';
export type { Upload } from './upload-event';
export * from './records';
export { decodeUpload } from './decode';
export { DeviceCloudError, ERROR_CODES, isDeviceCloudError, type ErrorCode } from './errors';
export { signOpenApi, signServerApi, type Params, type ServerApiRequest } from './signing';
export * from './simulator';
