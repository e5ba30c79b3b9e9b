import { DeviceCloudError } from '../../src/index';

/** The error of a node that needs the queue of a cluster. */
export const noQueue = (): DeviceCloudError =>
  new DeviceCloudError(
    'NOT_CONFIGURED',
    "The application has no cluster, and so no queue. Choose one in the application's configuration.",
  );
