/**
 * The one door of the client: at most 40 names for everyday work, all in docs/inside/client.md, and what this package's own nodes
 * need besides, which the published declarations leave out. test/src/walls.test.ts lists the imports that pass by it.
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
export * from './internal';
