import { startNodeRed } from '../flows/node-red';
import { startMeter, type Sample } from '../process/meter';
import { serve, settings } from '../process/rpc';

/* Node-RED starting with no flow, with or without the package. */

/** Whether the package is installed. */
export interface LoadingSettings {
  withPackage: boolean;
}

/** A process that starts Node-RED. */
export interface LoadingMethods {
  start(): Promise<Sample>;
}

const { withPackage } = settings() as LoadingSettings;

serve<LoadingMethods>({
  async start() {
    const measured = startMeter();
    const { app } = await startNodeRed(undefined, withPackage);
    const sample = measured(1);
    const has = (app.nodes as unknown as { getType(type: string): unknown }).getType(
      'device-cloud-listen',
    );
    if (!!has !== withPackage) throw new Error('The package is not loaded as it should be.');
    return sample;
  },
});
