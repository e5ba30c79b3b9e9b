import { DeviceCloudError } from '../../../src/index';

/** An error as the editor shows it. */
export const toProblem = (error: unknown): { code: string; message: string } =>
  error instanceof DeviceCloudError
    ? { code: error.code, message: error.message }
    : { code: 'ERROR', message: error instanceof Error ? error.message : 'unknown error' };
