import type { NodeAPI } from 'node-red';
import {
  type DeviceCloudClient,
  invalidInput,
  isDeviceCloudError,
  parseChipids,
  type TestRecorder,
} from '../../src/index';
import { auditedRoute, bodyOf, forFlowReaders, statusOf } from '../common/admin';
import type { Handler } from '../common/register';
import { appNodeOf, type AppNode } from './deployed';

/** The last recording of each application, which may run. */
const recorders = new WeakMap<AppNode, TestRecorder>();

export const recordingOf = (node: AppNode) => recorders.get(node)?.state;

/** Begins a recording, which keeps the client until it ends. */
const start = (node: AppNode, chipids: string[] | undefined): Promise<object> =>
  new Promise((resolve, reject) => {
    const record = (client: DeviceCloudClient): Promise<void> => {
      const recorder = client.recordTest(chipids);
      recorders.set(node, recorder);
      resolve({ ok: true, recording: recorder.state });
      return recorder.ended;
    };
    node.app.borrow('open', record).catch(reject);
  });

/** Ends a recording. @returns the test, as YAML */
function stop(node: AppNode): string {
  const recorder = recorders.get(node);
  if (!recorder) throw invalidInput('Nothing was recorded since the application was deployed.');
  recorder.end();
  return recorder.toYaml();
}

/** Records a test of the flows: what devices upload, and what the flows do. It is for users who may read both. */
export const recordRoute = (RED: NodeAPI): Handler => {
  const handle = auditedRoute(RED, {
    event: 'apps.record',
    read(body, { id = '' }) {
      const node = appNodeOf(RED, id);
      const { action, chipids } = bodyOf(body);
      if (action !== 'start' && action !== 'stop')
        throw invalidInput('The action has to be "start" or "stop".');
      const devices = chipids === undefined || chipids === null ? undefined : parseChipids(chipids);
      return { id, node, action, chipids: devices };
    },
    audited: ({ id, action, chipids }) => ({ id, action, ...(chipids && { chipids }) }),
    answer: async ({ node, action, chipids }) =>
      action === 'start' ? start(node, chipids) : stop(node),
    failure: (error) =>
      isDeviceCloudError(error, 'INVALID_INPUT', 'NOT_CONFIGURED') ? 409 : statusOf(error),
  });
  return forFlowReaders(RED, handle);
};
