import type { NodeAPI } from 'node-red';
import { DeviceCloudClient } from '../../../src/index';
import { isVariable } from '../../common/values';
import { findApp, type Api } from '../../common/app';
import { deployedCredentials, findDeployed } from '../deployed/deployed';
import { explainedInputs } from './explain-inputs';
import {
  placeholderNote,
  simulatorNote,
  type NodeExplanation,
  type NodeNote,
} from './explain-notes';
import type { ExplainRequest } from './explain-request';
import { clientOptions } from '../connection/options';

/** The placeholder of a setting that is given by a variable, for users who may not read it. */
const PLACEHOLDERS = { baseUrl: 'https://base-url.invalid', appid: '0' } as const;

/** The client of an application, or one that differs from it in what the user may not see. */
async function useClient<T>(
  RED: NodeAPI,
  id: string,
  api: Api,
  mayWriteFlows: () => Promise<boolean>,
  use: (client: DeviceCloudClient, notes: NodeNote[]) => T,
): Promise<T> {
  const deployed = findDeployed(RED, id);
  const isSimulator = deployed?.saved.service === 'simulator';
  const hidden = (['baseUrl', 'appid'] as const).filter((name) =>
    isVariable(deployed?.saved[name]),
  );
  if (!deployed || isSimulator || hidden.length === 0 || (await mayWriteFlows())) {
    const notes = isSimulator ? [simulatorNote()] : [];
    return findApp(RED, id).borrow(api, (client) => Promise.resolve(use(client, notes)));
  }
  const { saved, node } = deployed;
  const placeholders = Object.fromEntries(hidden.map((name) => [name, PLACEHOLDERS[name]]));
  const credentials = deployedCredentials(RED, deployed);
  const { options } = clientOptions(RED, node, { ...saved, ...placeholders, credentials });
  const client = new DeviceCloudClient(options);
  try {
    return use(
      client,
      hidden.map((name) => placeholderNote(name, PLACEHOLDERS[name])),
    );
  } finally {
    await client.close();
  }
}

/**
 * Explains what a node would send for a message, without a request to the service.
 * @param mayWriteFlows whether the user may change flows; called only if the answer matters
 * @throws DeviceCloudError as the node itself does for its properties and the message
 */
export async function explainNode(
  RED: NodeAPI,
  request: ExplainRequest,
  mayWriteFlows: () => Promise<boolean>,
): Promise<NodeExplanation> {
  const { id, kind, config, msg } = request;
  const problem = findApp(RED, id).problem(kind.api);
  if (problem) throw problem;
  const { inputs, notes } = await explainedInputs(RED, request, mayWriteFlows);
  return useClient(RED, id, kind.api, mayWriteFlows, (client, clientNotes) => {
    const all = [...clientNotes, ...notes];
    const note = (one: NodeNote): number => all.push(one);
    const explanation = kind.explain({ client, config, inputs, msg, note });
    return { ...explanation, warnings: [...explanation.warnings, ...all] };
  });
}
