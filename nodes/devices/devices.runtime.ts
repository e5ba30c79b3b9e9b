import { actionRuntime } from '../common/action-runtime';
import type { DevicesConfig } from './devices.config';

/** Lists the online devices, or reads the application's record (endpoints 2 and 1). */
export const runtime = actionRuntime<DevicesConfig, never>({
  api: 'open',
  inputs: () => ({}),
  async perform({ client, config, signal }) {
    const { statusCode, body } = await (config.operation === 'app'
      ? client.app({ signal })
      : client.devices({ signal }));
    return { set: { payload: body, statusCode } };
  },
});
