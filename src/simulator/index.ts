// A project whose tsconfig names no types would not find Buffer: this asks for those of Node.js.
/// <reference types="node" preserve="true" />
export { startSimulator, type Simulator } from './simulator';
export { BUILT_IN_DEVICES, DEFAULT_CREDENTIALS, OptionError } from './options';
export type { DialectName, SimulatorOptions } from './options';
export type { DeviceOptions, SleepOptions } from './device';
export { RELAY_PIN, type PinSet, type Received, type SimulatedDevice } from './device';
export type { DeviceKind, Reading } from './sensors';
export { FAULT_NAMES, type FaultName, type FaultOptions } from './faults';
export type { HistoryEncoding, UploadEntry, UploadType } from './history';
export type { FrameRecord, RequestRecord } from './history';
export type { HistoryRewrite, UploadOptions } from './service';
