// A project whose tsconfig names no types would not find Buffer: this asks for those of Node.js.
/// <reference types="node" preserve="true" />
export { startSimulator, type Simulator } from './simulator';
export {
  DEFAULT_CREDENTIALS,
  type DialectName,
  type HistoryEncoding,
  type HistoryOrder,
  type SimulatorOptions,
} from './options';
export {
  BUILT_IN_DEVICES,
  OptionError,
  type DeviceOptions,
  type SleepOptions,
} from './device-options';
export type { DeviceKind, Reading } from './sensors';
export { RELAY_PIN, type PinSet, type Received, type SimulatedDevice } from './device';
export { FAULT_NAMES, type FaultName, type FaultOptions } from './faults';
export type { PushEntry, UploadEntry, UploadType } from './history';
export type { CloseOptions, HistoryRewrite, UploadOptions } from './service';
export type { FrameRecord, RequestRecord } from './log';
