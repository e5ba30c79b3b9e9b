/**
 * The client for everyday work: at most 40 names, all in docs/inside/client.md. What the nodes need besides is in for-nodes.ts.
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
export type { DeviceSnapshot } from './fleet/device';
export type { LatestUpload } from './fleet/latest';
export type { FleetEvent, WatchOptions } from './fleet/watch/watch-types';
