// A project whose tsconfig names no types would not find Buffer: this asks for those of Node.js.
/// <reference types="node" preserve="true" />
export { startSimulator, type Simulator } from './simulator';
export { DEFAULT_CREDENTIALS, type SimulatorOptions } from './options/options';
export type { DeviceOptions, SleepOptions } from './options/device-options';
export type { DeviceKind } from './sensors/kinds';
export type { Reading } from './sensors/sensor';
export { BUILT_IN_DEVICES } from './options/built-in-devices';
export { OptionError } from './options/option-readers';
export { RELAY_PIN } from './devices/device';
export type { Received, SimulatedDevice } from './devices/simulated-device';
export type { CloseOptions } from './service/channels';
export { FAULT_NAMES, type FaultName, type FaultOptions } from './faults/faults';
export type { PushEntry, UploadEntry } from './devices/history';
export type { HistoryRewrite, UploadOptions } from './service/service';
export type { UploadType } from './devices/history';
export type { DialectName, HistoryEncoding, HistoryOrder } from './options/dialect-defaults';
export type { FrameRecord, RequestRecord } from './transport/request-log';
