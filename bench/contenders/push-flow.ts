import type { NodeMessage } from 'node-red';
import { corePush } from '../flows/core';
import { startNodeRed } from '../flows/node-red';
import { ourPush } from '../flows/ours';
import { newEnds, ownNodes } from '../flows/own-nodes';
import type { Sample } from '../process/meter';
import { serve, settings } from '../process/rpc';
import { pushLoop, type PushMethods, type PushRun } from './push-loop';

/* A flow that pushes: source → what is measured → sink. */

const { baseUrl, flow } = settings() as { baseUrl: string; flow: 'core' | 'ours' };
const ends = newEnds();

const started = startNodeRed(ownNodes(ends)).then((nodeRed) =>
  nodeRed.deploy(flow === 'core' ? corePush(baseUrl) : ourPush(baseUrl)),
);

const isOkay = ({ statusCode, payload }: NodeMessage & { statusCode?: number }): boolean =>
  statusCode === 200 && (payload as { msg?: unknown } | undefined)?.msg === 'OK';

const run = (how: PushRun): Promise<Sample> =>
  new Promise((resolve, reject) => {
    ends.onFailure = reject;
    const start = (chipid: string, message: string, done: () => void): void => {
      // Whichever push ends makes room for the next one.
      ends.onMessage = (msg) => {
        if (isOkay(msg)) done();
        else reject(new Error('A push was not answered as it should be.'));
      };
      ends.send({ chipid, payload: message });
    };
    pushLoop(how, start).then(resolve, reject);
  });

serve<PushMethods>({
  async run(how) {
    await started;
    return run(how);
  },
});
