import type { NodeAPI } from 'node-red';
import { toProblem } from '../app/answers';
import { mayWriteFlows } from '../app/flow-rights';
import { readSettings } from '../app/test-request';
import { testEngine } from './test-cluster';

const SETTINGS = ['id', 'url', 'sentinels', 'master', 'lease', 'tls'];
const CREDENTIALS = ['user', 'password'];

/** Adds the route that tries the settings of a cluster. Called once per module. */
export function addClusterRoute(RED: NodeAPI): void {
  RED.httpAdmin.post(
    '/device-cloud/clusters/test',
    RED.auth.needsPermission('device-cloud.write'),
    (request, response) => {
      const audit = (more: object): void => {
        const entry = { level: RED.log.AUDIT, event: 'device-cloud.clusters.test', ...more };
        RED.log.audit(entry, request);
      };
      let read: ReturnType<typeof readSettings>;
      try {
        read = readSettings(request.is('json') ? request.body : undefined, SETTINGS, CREDENTIALS);
      } catch (error) {
        audit({ error: 'invalid_input' });
        response.status(400).json({ error: toProblem(error) });
        return;
      }
      const { id, ...settings } = read.fields;
      audit({ id });
      const typed = { ...settings, credentials: read.credentials };
      testEngine(RED, id, typed, () => mayWriteFlows(RED, request)).then(
        (result) => response.json(result),
        (error: unknown) => response.status(500).json({ error: toProblem(error) }),
      );
    },
  );
}
