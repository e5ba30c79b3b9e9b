import type { NodeAPI } from 'node-red';
import { diagnose } from './diagnostics';

/** Adds the route of what the editor copies for an issue. */
export function addDiagnosticsRoute(RED: NodeAPI): void {
  RED.httpAdmin.get(
    '/device-cloud/diagnostics',
    RED.auth.needsPermission('device-cloud.read'),
    (_request, response) => {
      response.json(diagnose(RED));
    },
  );
}
