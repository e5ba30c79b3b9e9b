import type { Node, NodeAPI, NodeDef, NodeMessage, NodeMessageInFlow } from 'node-red';
import type { DeviceCloudClient } from '../../src/client';
import { DeviceCloudError } from '../../src/errors';
import { findApp, type AppNode, type Api } from '../app/app-node';
import { showCalls } from './call-status';
import { inputReader, type InputTable, type InputValues } from './inputs';
import { closedMeanwhile, createWaits } from './unless-closed';

/** What an action node gets to do its work with. */
export interface ActionCall<C, K extends string> {
  client: DeviceCloudClient;
  /** The node's properties as they were saved. */
  config: C;
  /** The values of its inputs for this message. */
  inputs: InputValues<K>;
  msg: NodeMessage;
  node: Node;
  /** Ends the call when the node closes. */
  signal: AbortSignal;
}

/** What comes of a call: fields to put on the message, or messages to send instead of it. */
export type Outcome = ({ set: Readonly<Record<string, unknown>> } | { messages: NodeMessage[] }) & {
  /** Called when the messages have been sent, before the next call that goes in turn. */
  sent?: () => Promise<void>;
};

/** What is an action node's own. */
export interface Action<C, K extends string> {
  /** Which keys it needs. */
  api: Api;
  /** The typed properties it reads for each message. */
  inputs: (config: C) => InputTable<K>;
  /** Whether a message waits until the one before it is done. */
  sequential?: (config: C) => boolean;
  /** Makes the call. Whatever it throws ends the message with an error. */
  perform: (call: ActionCall<C, K>) => Promise<Outcome>;
}

type Send = (msg: NodeMessage | NodeMessage[][]) => void;
type Done = (error?: Error) => void;

const asError = (error: unknown): Error =>
  error instanceof Error ? error : new Error(String(error));

const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'Nothing was sent, since the node was closed.');

/**
 * Registers an action node. All that action nodes share is here: config node, inputs in the order of
 * arrival, status, output, errors, and one `done` for each message, whatever happens.
 */
export function registerAction<C extends object, K extends string>(
  RED: NodeAPI,
  type: string,
  action: Action<C, K>,
): void {
  RED.nodes.registerType(type, function (this: Node, def: NodeDef & C) {
    RED.nodes.createNode(this, def);
    const app = findApp(RED, (def as { app?: string }).app ?? '');
    runAction(RED, this, def, app, action);
  });
}

function runAction<C extends object, K extends string>(
  RED: NodeAPI,
  node: Node,
  config: C,
  app: AppNode | DeviceCloudError,
  action: Action<C, K>,
): void {
  const abort = new AbortController();
  const { signal } = abort;
  const status = showCalls(node);
  const waits = createWaits();
  let readInputs: ReturnType<typeof inputReader<K>> | undefined;
  let problem = app instanceof DeviceCloudError ? app : app.problem(action.api);
  try {
    readInputs = inputReader(RED, node, action.inputs(config), config);
  } catch (error) {
    problem ??= new DeviceCloudError('NOT_CONFIGURED', asError(error).message);
  }
  if (!(app instanceof DeviceCloudError)) app.join(node);
  if (problem) status.failed(problem);

  /** Inputs that have to be waited for are read one message after the other, or order would be lost. */
  let reading: Promise<unknown> = Promise.resolve();

  const call = async (msg: NodeMessage, inputs: InputValues<K>): Promise<Outcome> => {
    if (problem) throw problem;
    if (app instanceof DeviceCloudError) throw app;
    if (signal.aborted) throw closed();
    const ready = app.client(action.api);
    const client = ready instanceof Promise ? await ready : ready;
    return action.perform({ client, config, inputs, msg, node, signal });
  };

  const prepare = (msg: NodeMessage): Promise<Outcome> => {
    if (problem || !readInputs || signal.aborted) return Promise.reject(problem ?? closed());
    const inputs = readInputs(msg);
    if (!(inputs instanceof Promise)) return call(msg, inputs);
    // It may fail before its turn comes, when nobody waits for it yet: that must not end the process.
    inputs.catch(() => undefined);
    return new Promise((resolve) => {
      // Resolving with a promise hands it on at once: the next message does not wait for this call.
      const turn = reading.then(async () => {
        const values = await inputs;
        resolve(call(msg, values));
      });
      reading = turn.catch((error: unknown) => resolve(Promise.reject(asError(error))));
    });
  };

  const run = async (msg: NodeMessageInFlow, send: Send, done: Done): Promise<void> => {
    let failure: Error | undefined;
    status.begin();
    try {
      const outcome = await waits.unlessClosed(prepare(msg));
      if (signal.aborted) throw closedMeanwhile();
      status.succeeded();
      // A status that an earlier node left is not this call's.
      delete msg['statusCode'];
      if ('messages' in outcome) send([outcome.messages]);
      else send(Object.assign(msg, outcome.set));
      if (outcome.sent) await waits.unlessClosed(outcome.sent());
    } catch (error) {
      failure = asError(error);
      if (!signal.aborted) status.failed(error);
      if (error instanceof DeviceCloudError && error.statusCode !== undefined) {
        msg['statusCode'] = error.statusCode;
      } else delete msg['statusCode'];
    }
    // Outside, since an error of `done` itself would call it a second time.
    done(failure);
  };

  /** An error out of `done` itself, say of another package's hook: it must not end the process. */
  const surprise = (error: unknown): void => {
    node.error(asError(error));
  };
  let turn: Promise<void> = Promise.resolve();
  node.on('input', (msg, send, done) => {
    if (action.sequential?.(config)) turn = turn.then(() => run(msg, send, done)).catch(surprise);
    else run(msg, send, done).catch(surprise);
  });

  node.on('close', (_removed: boolean, done: () => void) => {
    status.close();
    abort.abort('the node was closed');
    if (!(app instanceof DeviceCloudError)) app.leave(node);
    // The calls that were broken off say so to their messages first; then what is left is ended.
    setImmediate(() => {
      waits.end();
      setImmediate(done);
    });
  });
}
