import type { NodeAPI } from 'node-red';
import { toProblem } from '../common/admin/problem';
import { mayWriteFlows } from '../common/admin/flow-rights';
import { readSettings } from '../common/admin/settings-test';
import type { Handler, Handlers } from '../common/admin/admin-routes';
import { testEngine } from './test-cluster';

const SETTINGS = ['id', 'url', 'sentinels', 'master', 'lease', 'tls'];
const CREDENTIALS = ['user', 'password'];

/** Tries the settings of a cluster. */
const test =
  (RED: NodeAPI): Handler =>
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
  };

export const handlers = (RED: NodeAPI): Handlers<'test'> => ({ test: test(RED) });
