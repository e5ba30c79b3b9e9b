import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Node, NodeAPI, NodeMessage, NodeMessageInFlow } from 'node-red';
import { DeviceCloudError, type DeviceCloudClient, type RequestProgress } from '../../src/index';
import { findApp, type Api, type App } from './app';
import { CallStatus } from './call-status';
import { asError, messageOf } from './errors';
import { inputReader, type InputTable, type InputValues, type ReadInputs } from './inputs';
import { endLogged } from './logged-end';
import type { Runtime } from './register-node';
import { SerialQueue } from './serial-queue';
import { failureStatus } from './status';
import { closedMeanwhile, createWaits } from './unless-closed';

/** The context of an action node's work. */
export interface ActionCall<C, K extends string> {
  client: DeviceCloudClient;
  app: App;
  /** The node's properties as they were saved. */
  config: C;
  /** The values of its inputs for this message, as they came: the client checks what it is given. */
  inputs: InputValues<K>;
  msg: NodeMessage;
  node: Node;
  RED: NodeAPI;
  /** Ends the call when the node closes. */
  signal: AbortSignal;
  /** Shows what the call waits for. */
  onProgress: OnProgress;
}

type OnProgress = (progress: RequestProgress) => void;

/** The result of a call: fields to put on the message, or messages to send instead of it. */
export type Outcome = ({ set: Readonly<Record<string, unknown>> } | { messages: NodeMessage[] }) & {
  /** Called when Node-RED has passed the messages on; a sequential node takes the next one after it. */
  sent?: () => Promise<void>;
  /** The message ends with this error instead. */
  error?: Error;
  /** Whether the fields go on the message even if it ends with an error, such as that of a close. */
  always?: boolean;
};

/** The parts in which action nodes differ. */
export interface Action<C, K extends string> {
  /** Which keys it needs. */
  api: Api;
  /** The typed properties that it reads for each message. */
  inputs: (config: C) => InputTable<K>;
  /** Whether a message waits until the one before it is done. */
  sequential?: (config: C) => boolean;
  /** Seconds for which a close waits for the calls to end by themselves, default 0. */
  closing?: (config: C) => number;
  /** Makes the call. Whatever it throws ends the message with an error. */
  perform: (call: ActionCall<C, K>) => Promise<Outcome>;
}

type Send = (msg: NodeMessage | NodeMessage[][]) => void;
type Done = (error?: Error) => void;

const closed = (): DeviceCloudError =>
  new DeviceCloudError('UNREACHABLE', 'Nothing was sent, since the node was closed.');

/**
 * Makes the run time of an action node. All that action nodes share is here: config node, inputs in the order of
 * arrival, status, output, errors, and one `done` for each message, whatever happens.
 */
export const actionRuntime =
  <C extends object, K extends string>(action: Action<C, K>): Runtime<C> =>
  (RED) =>
  (node, def) => {
    const life = new ActionLife(RED, node, def, action);
    node.on('input', (msg, send, done) => life.handle(msg, send, done));
    node.on('close', (_removed: boolean, done: () => void) => life.close(done));
  };

/** The life of an action node: how each message is handled, and how all of them end when it closes. */
class ActionLife<C extends object, K extends string> {
  readonly #app: App;
  readonly #status: CallStatus;
  /** Why no message can be handled, if that is so. */
  readonly #problem: DeviceCloudError | undefined;
  readonly #readInputs: ReadInputs<K> | undefined;
  readonly #closing = new AbortController();
  readonly #waits = createWaits();
  /** Inputs that are not available at once, such as those from a context store, must not change the order of messages. */
  readonly #readings = new SerialQueue();
  /** Whole messages, of a node that is sequential. */
  readonly #messages = new SerialQueue();
  /** The messages that have not ended. */
  readonly #open = new Set<Promise<void>>();

  constructor(
    private readonly RED: NodeAPI,
    private readonly node: Node,
    private readonly config: C,
    private readonly action: Action<C, K>,
  ) {
    this.#app = findApp(RED, (config as { app?: string }).app ?? '');
    this.#status = new CallStatus(node);
    this.#problem = this.#app.problem(action.api);
    try {
      this.#readInputs = inputReader(RED, node, action.inputs(config), config);
    } catch (error) {
      this.#problem ??= new DeviceCloudError('NOT_CONFIGURED', messageOf(error));
    }
    this.#app.join(node, (problem) => this.#status.show(failureStatus(problem)));
    if (this.#problem) this.#status.show(failureStatus(this.#problem));
  }

  /** Takes a message that has arrived. */
  handle(msg: NodeMessageInFlow, send: Send, done: Done): void {
    const handle = (): Promise<void> => this.#handle(msg, send, done);
    const handled = this.action.sequential?.(this.config) ? this.#messages.add(handle) : handle();
    this.#open.add(handled);
    const over = (): boolean => this.#open.delete(handled);
    handled.then(over, (error: unknown) => {
      over();
      // An error out of `done` itself, say of another package's hook, must not end the process.
      this.node.error(asError(error));
    });
  }

  close(done: () => void): void {
    this.#status.close();
    this.#closing.abort('the node was closed');
    this.#app.leave(this.node);
    void this.#patience().then(() => {
      // Aborted calls end their messages first; then whatever still waits is ended.
      setImmediate(() => {
        this.#waits.end();
        setImmediate(done);
      });
    });
  }

  /** Waits until all messages have ended, for as long as the action asks for. */
  async #patience(): Promise<void> {
    const seconds = this.action.closing?.(this.config) ?? 0;
    if (seconds === 0 || this.#open.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, seconds * 1000)));
    await Promise.race([Promise.allSettled(this.#open), late]);
    clearTimeout(timer);
  }

  async #handle(msg: NodeMessageInFlow, send: Send, done: Done): Promise<void> {
    let failure: Error | undefined;
    const call = this.#status.begin();
    const onProgress: OnProgress = (progress) => this.#status.progress(call, progress);
    try {
      const outcome = await this.#waits.unlessClosed(this.#outcomeOf(msg, onProgress));
      const error = outcome.error ?? (this.#closing.signal.aborted ? closedMeanwhile() : undefined);
      if (error) {
        if (outcome.always && 'set' in outcome) Object.assign(msg, outcome.set);
        throw error;
      }
      this.#status.succeed(call);
      // A status that an earlier node left is not this call's.
      delete msg['statusCode'];
      if ('messages' in outcome) send([outcome.messages]);
      else send(Object.assign(msg, outcome.set));
      if (outcome.sent) {
        // Node-RED passes messages on in the next turn, and drops them if it is stopped before.
        await nextTurn();
        if (this.#closing.signal.aborted) throw closedMeanwhile();
        await this.#waits.unlessClosed(outcome.sent());
      }
    } catch (error) {
      failure = asError(error);
      this.#status.fail(call, error);
      delete msg['statusCode'];
      if (error instanceof DeviceCloudError && error.statusCode !== undefined) {
        msg['statusCode'] = error.statusCode;
      }
    }
    // Outside, since an error of `done` itself would call it a second time.
    if (failure && this.#closing.signal.aborted) endLogged(this.RED, this.node, failure, done);
    else done(failure);
  }

  /** Reads the inputs of a message and makes the call, at once if nothing has to be waited for. */
  #outcomeOf(msg: NodeMessage, onProgress: OnProgress): Promise<Outcome> {
    if (this.#problem || !this.#readInputs) throw this.#problem ?? closed();
    this.#throwIfClosed();
    const inputs = this.#readInputs(msg);
    return inputs instanceof Promise
      ? this.#inOrder(inputs).then((values) => this.#perform(msg, values, onProgress))
      : this.#perform(msg, inputs, onProgress);
  }

  #perform(msg: NodeMessage, inputs: InputValues<K>, onProgress: OnProgress): Promise<Outcome> {
    this.#throwIfClosed();
    const { RED, node, config, action } = this;
    const app = this.#app;
    const { signal } = this.#closing;
    const perform = (client: DeviceCloudClient): Promise<Outcome> =>
      action.perform({ client, app, config, inputs, msg, node, RED, signal, onProgress });
    const client = app.client(action.api);
    return client instanceof Promise ? client.then(perform) : perform(client);
  }

  #throwIfClosed(): void {
    if (this.#closing.signal.aborted) throw closed();
  }

  /** Waits for a message's inputs, and for those of the messages before it. */
  #inOrder(values: Promise<InputValues<K>>): Promise<InputValues<K>> {
    // They may fail before they are awaited: that must not end the process.
    values.catch(() => undefined);
    return this.#readings.add(() => values);
  }
}
