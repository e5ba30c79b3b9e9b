import { DeviceCloudError } from '../../src/index';
import { notConfigured, oneLine } from '../../src/input';

/** Turns a thrown value into an error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error ? thrown : new Error(String(thrown));

/** The message of a thrown value. */
export const messageOf = (thrown: unknown): string => asError(thrown).message;

const LONGEST_NAME = 60;

/** A device as an error says it: by its name, too, where a list has shown it. */
export const deviceText = (name: string | null | undefined, chipid: string): string =>
  name ? `${oneLine(name, LONGEST_NAME)} (${chipid})` : `device ${chipid}`;

/** An error as the editor shows it. */
export const toProblem = (error: unknown): { code: string; message: string } =>
  error instanceof DeviceCloudError
    ? { code: error.code, message: error.message }
    : { code: 'ERROR', message: error instanceof Error ? error.message : 'unknown error' };

/** The error of a node that needs the queue of a cluster. */
export const noQueue = (): DeviceCloudError =>
  notConfigured(
    "The application has no cluster, and so no queue. Choose one in the application's configuration.",
  );

/** The error of a message for which nothing was sent before the node closed. */
export const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'Nothing was sent, since the node was closed.');
