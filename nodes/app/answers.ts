import { DeviceCloudError, type DeviceRecord } from '../../src/index';

/** What the editor may know of a device: never its `devkey`. */
export interface DeviceChoice {
  chipid: string;
  name: string | null;
  latest: string;
  vertype: number;
}

/** A device as the editor offers it. */
export const toChoice = ({ chipid, name, latest, vertype }: DeviceRecord): DeviceChoice => ({
  chipid: String(chipid),
  name: name === null ? null : String(name),
  latest,
  vertype,
});

/** An error as the editor shows it. */
export const toProblem = (error: unknown): { code: string; message: string } =>
  error instanceof DeviceCloudError
    ? { code: error.code, message: error.message }
    : { code: 'ERROR', message: error instanceof Error ? error.message : 'unknown error' };
