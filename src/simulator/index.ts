// A project whose tsconfig names no types would not find Buffer: this asks for those of Node.js.
/// <reference types="node" preserve="true" />
export { startSimulator, type Simulator } from './simulator';
export { DEFAULT_CREDENTIALS, type SimulatorOptions } from './options';
export type { DeviceOptions, SleepOptions } from './device-options';
export type { DeviceKind } from './kinds';
export type { Reading } from './sensor';
export { BUILT_IN_DEVICES } from './built-in-devices';
export { OptionError } from './option-readers';
export { RELAY_PIN } from './device';
export type { Received, SimulatedDevice } from './simulated-device';
export type { CloseOptions } from './channels';
export { FAULT_NAMES, type FaultName, type FaultOptions } from './faults';
export type { PushEntry, UploadEntry } from './history';
export type { HistoryRewrite } from './service';
export type { FrameRecord, RequestRecord } from './request-log';
