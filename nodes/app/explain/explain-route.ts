import type { NodeAPI } from 'node-red';
import { DeviceCloudError } from '../../../src/index';
import type { Handler } from '../../common/admin/admin-routes';
import { toProblem } from '../../common/admin/problem';
import { explainNode } from './explain-app';
import { readExplainRequest, type ExplainRequest } from './explain-request';
import { mayWriteFlows } from '../../common/admin/flow-rights';

/** Asks once, since Node-RED records each refusal. */
function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => (answer ??= ask());
}

/** Explains what a node would send. It sends nothing to the service. */
export const explainRoute =
  (RED: NodeAPI): Handler =>
  (request, response) => {
    // Without the body: a message may hold anything.
    const audit = (more: object): void => {
      const entry = { level: RED.log.AUDIT, event: 'device-cloud.apps.explain', ...more };
      RED.log.audit(entry, request);
    };
    let asked: ExplainRequest;
    try {
      asked = readExplainRequest(request.is('json') ? request.body : undefined);
    } catch (error) {
      audit({ error: 'invalid_input' });
      response.status(400).json({ error: toProblem(error) });
      return;
    }
    audit({ id: asked.id, type: asked.type });
    explainNode(
      RED,
      asked,
      once(() => mayWriteFlows(RED, request)),
    ).then(
      (explanation) => response.json(explanation),
      (error: unknown) => {
        const status = error instanceof DeviceCloudError ? 400 : 500;
        response.status(status).json({ error: toProblem(error) });
      },
    );
  };
