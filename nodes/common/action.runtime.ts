import { setMaxListeners } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Node, NodeAPI, NodeMessage, NodeMessageInFlow, NodeStatus } from 'node-red';
import {
  type DeviceCloudClient,
  DeviceCloudError,
  errorOfEnd,
  invalidInput,
  notConfigured,
  type RequestProgress,
  type SavedCall,
  Semaphore,
  Slices,
} from '../../src/index';
import type { Action, Outcome, Runtime } from './action';
import { findApp, type App } from './app';
import { deviceIn, selectionOf, inputReader, type InputValues, type ReadInputs } from './inputs';
import { readKept } from './device-call';
import { DeviceTypes } from './device-types';
import { asError, closed, closedMeanwhile, endLogged, messageOf } from './errors';
import { findInFlows, readProperties, settingsOf } from './settings';
import type { TypedConfig } from './shared.config';
import { CallStatus, failureStatus } from './status';

type Send = (msg: NodeMessage | NodeMessage[][]) => void;
type Done = (error?: Error) => void;

/**
 * Makes the run time of an action node. All that action nodes share is here: config node, inputs in the order of
 * arrival, status, output, errors, and one `done` for each message, whatever happens.
 */
export const actionRuntime =
  <C extends object, K extends string>(action: Action<C, K>): Runtime<C> =>
  (RED) =>
  (node, def) => {
    const { config, problem } = readProperties<C>(def, action.defaults, action.choices);
    const life = new ActionLife(RED, node, config, action, problem);
    node.on('input', (msg, send, done) => life.handle(msg, send, done));
    node.on('close', (removed: boolean, done: () => void) => void life.close(removed).then(done));
  };

/** A message from its arrival to its one `done`. A class with plain fields, since there may be thousands. */
class Arrival {
  isShown = false;
  /** What its call waits for, once that is known. */
  progress: RequestProgress | undefined;
  /** Whether its call has begun: until then, it is certain that nothing was sent. */
  hasBegun = false;
  isOver = false;
  /** The chip number, as it came. */
  chipid: unknown;
  /** The call whose commands may wait. */
  kept: SavedCall | undefined;
  /** Of a message that was kept. */
  goOn: ReturnType<typeof readKept>['goOn'] | undefined;

  constructor(
    readonly msg: NodeMessageInFlow,
    readonly send: Send,
    readonly done: Done,
  ) {}

  get isUnkept(): boolean {
    return this.progress?.state === 'awaiting-device' && this.kept?.isKept === false;
  }
}

/** The life of an action node: how each message is handled, and how all of them end when it closes. */
class ActionLife<C extends object, K extends string> {
  readonly #app: App;
  /** The application's, which lasts as long as the node; undefined before it is needed. */
  #client: DeviceCloudClient | undefined;
  readonly #types: DeviceTypes;
  readonly #status: CallStatus;
  /** Why no message can be handled, if that is so. */
  readonly #problem: DeviceCloudError | undefined;
  readonly #readInputs: ReadInputs<K> | undefined;
  readonly #closing = new AbortController();
  #isClosing = false;
  /** Inputs that are not available at once, such as those from a context store, must not change the order of messages. */
  readonly #readings = new Semaphore(1);
  /** Whole messages, of a node that is sequential. */
  readonly #messages = new Semaphore(1);
  /** The messages that have not ended. */
  readonly #open = new Set<Arrival>();
  #onAllOver: (() => void) | undefined;
  /** Ends what the node does besides handling messages. */
  #endBackground: ((removed: boolean) => void) | undefined;
  /** The calls that were given back, by their messages, until these arrive. */
  readonly #resumed = new Map<NodeMessage, Pick<Arrival, 'kept' | 'goOn'>>();
  #unregister: (() => void) | undefined;
  readonly #RED: NodeAPI;
  readonly #node: Node;
  readonly #config: C;
  readonly #action: Action<C, K>;

  /** @param wrong what is wrong with its properties */
  constructor(
    RED: NodeAPI,
    node: Node,
    config: C,
    action: Action<C, K>,
    wrong: string | undefined,
  ) {
    this.#RED = RED;
    this.#node = node;
    this.#config = config;
    this.#action = action;
    this.#app = findApp(RED, (config as { app?: string }).app);
    this.#types = new DeviceTypes(RED, (config as Partial<TypedConfig>).deviceType, (line) =>
      node.warn(line),
    );
    // Each message that waits until it is known what waited before listens.
    setMaxListeners(0, this.#closing.signal);
    this.#status = new CallStatus(node, this.#open);
    this.#problem =
      wrong === undefined
        ? (this.#app.problem(action.api) ?? this.#types.problem)
        : invalidInput(wrong);
    this.#app.join(node, (problem) => this.#status.show(failureStatus(problem)));
    try {
      this.#readInputs = inputReader(RED, node, action.inputs(config), config);
      const showIdle = (status: () => NodeStatus): void => this.#status.showIdle(status);
      if (!this.#problem)
        this.#endBackground = action.start?.({ RED, node, config, app: this.#app, showIdle });
    } catch (error) {
      this.#problem ??= error instanceof DeviceCloudError ? error : notConfigured(messageOf(error));
    }
    if (this.#problem) this.#status.show(failureStatus(this.#problem));
    if (action.waits && !this.#problem) this.#register(settingsOf(config, action.defaults));
  }

  /** Commands of the node may wait. */
  #register(settings: object): void {
    const { keeper } = this.#app;
    if (!keeper) return;
    const { onProblem } = this.#app.store();
    const refresh = (): void => this.#status.refresh();
    onProblem.add(refresh);
    const leave = keeper.register(this.#node, settings, (kept, what) => this.#resume(kept, what));
    this.#unregister = () => {
      onProblem.delete(refresh);
      leave();
    };
  }

  /** Takes a message that has arrived. */
  handle(msg: NodeMessageInFlow, send: Send, done: Done): void {
    const arrival = new Arrival(msg, send, done);
    Object.assign(arrival, this.#resumed.get(msg));
    this.#resumed.delete(msg);
    this.#open.add(arrival);
    if (!this.#action.sequential?.(this.#config)) void this.#run(arrival);
    else void this.#messages.run(() => this.#run(arrival));
  }

  async close(removed: boolean): Promise<void> {
    this.#endBackground?.(removed && !findInFlows(this.#RED, this.#node.id));
    this.#status.close();
    this.#unregister?.();
    this.#isClosing = true;
    const client = this.#problem ? undefined : this.#app.current();
    // With a cluster, this process may go on with commands whose messages are in others.
    const isAny = this.#app.isShared || [...this.#open].some(({ kept }) => kept);
    if (client && this.#action.waits && isAny)
      await client.waiting.closeNode(this.#node.id, removed);
    // Of a node that is gone, only those are left that do not wait yet: they are ended once all nodes run.
    for (const { kept } of [...this.#open, ...this.#resumed.values()]) kept?.detach();
    this.#closing.abort('the node was closed');
    this.#app.leave(this.#node);
    await this.#patience();
    // Aborted calls end their messages first; then whatever still waits is ended: a context store may never answer.
    await nextTurn();
    // There may be 10,000: the event loop turns in between.
    const slices = new Slices();
    for (const arrival of [...this.#open]) {
      if (slices.isOver) await slices.next();
      const { kept } = arrival;
      // That it was cancelled may still be being written.
      const ends = kept?.chipids.map((each) => kept.of(each)?.end) ?? [];
      const error = errorOfEnd(ends.find((end) => end && 'error' in end));
      const over = arrival.hasBegun ? closedMeanwhile : closed;
      this.#fail(arrival, error ?? over(this.#deviceOf(arrival)));
    }
    await nextTurn();
  }

  /** Waits until all messages have ended, for as long as the action asks for. */
  #patience(): Promise<void> {
    const seconds = this.#action.closing?.(this.#config) ?? 0;
    if (seconds === 0 || this.#open.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, seconds * 1000);
      this.#onAllOver = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** A call of an earlier time is given back. Its message goes the way of every other, so that it has its one `done`. */
  #resume(kept: SavedCall, what: unknown): void {
    const { msg, goOn } = readKept(what);
    this.#resumed.set(msg, { kept, goOn });
    this.#node.receive(msg);
  }

  /** Takes a message from its inputs to its end, at once as far as nothing has to be waited for. Never rejects. */
  async #run(arrival: Arrival): Promise<void> {
    if (arrival.isOver) return;
    this.#status.begin(arrival);
    let outcome: Outcome | undefined;
    try {
      outcome = await this.#outcomeOf(arrival);
      await this.#send(arrival, outcome);
      this.#end(arrival);
    } catch (error) {
      this.#fail(arrival, error, outcome && 'set' in outcome ? outcome.set : {});
    }
  }

  /** Reads the inputs of a message and makes the call. */
  async #outcomeOf(arrival: Arrival): Promise<Outcome> {
    if (this.#problem || !this.#readInputs) throw this.#problem ?? closed();
    this.#throwIfClosed(arrival);
    const { msg, goOn, kept } = arrival;
    if (!goOn && msg['cancel'] !== undefined && this.#action.waits?.(this.#config))
      return this.#cancel(msg);
    const read = goOn ? ({} as InputValues<K>) : this.#readInputs(msg);
    const inputs = read instanceof Promise ? await this.#inOrder(read) : read;
    arrival.chipid = (inputs as { chipid?: unknown }).chipid;
    const client = (this.#client ??= await this.#app.client(this.#action.api));
    this.#throwIfClosed(arrival);
    arrival.hasBegun = true;
    const call = {
      types: this.#types,
      client,
      app: this.#app,
      config: this.#config,
      inputs,
      msg,
      node: this.#node,
      RED: this.#RED,
      signal: this.#closing.signal,
      onProgress: (progress: RequestProgress): void => this.#status.progress(arrival, progress),
      onKept(saved: SavedCall): void {
        arrival.kept = saved;
      },
    };
    return goOn && kept ? goOn(call, kept) : this.#action.perform(call);
  }

  /** Cancels commands of this node. */
  async #cancel(msg: NodeMessage): Promise<Outcome> {
    const selection = selectionOf(msg['cancel']);
    await this.#app.keeper?.ready;
    const client = await this.#app.client(this.#action.api);
    const { cancelled, missing } = await client.cancelWaiting(selection, { node: this.#node.id });
    return { set: { payload: cancelled, ...(missing > 0 && { missing }) } };
  }

  async #send(arrival: Arrival, outcome: Outcome): Promise<void> {
    const { isOver, kept, msg, send } = arrival;
    // Detached: it goes on as a new message.
    if (isOver || kept?.isDetached) return;
    const throwIfClosed = (): void => {
      if (this.#closing.signal.aborted) throw closedMeanwhile(this.#deviceOf(arrival));
    };
    if (outcome.error) throw outcome.error;
    throwIfClosed();
    this.#status.succeed(arrival);
    if ('messages' in outcome) send([outcome.messages]);
    // A status that an earlier node left is not this call's.
    else send(withFields(msg, ['statusCode', ...(outcome.remove ?? [])], outcome.set));
    if (!outcome.sent) return;
    // Node-RED passes messages on in the next turn, and drops them if it is stopped before.
    await nextTurn();
    throwIfClosed();
    outcome.sent();
  }

  /** @param set fields that go on the message all the same */
  #fail(arrival: Arrival, error: unknown, set?: object): void {
    if (arrival.isOver) return;
    // It goes on as a new message.
    if (arrival.kept?.isDetached) {
      this.#end(arrival);
      return;
    }
    const { msg } = arrival;
    this.#status.fail(arrival, error);
    const statusCode = error instanceof DeviceCloudError ? error.statusCode : undefined;
    try {
      Object.assign(msg, set);
      delete msg['statusCode'];
      if (statusCode !== undefined) msg['statusCode'] = statusCode;
    } catch {
      // A message whose properties cannot be set ends with the error alone.
    }
    this.#end(arrival, asError(error));
  }

  #end(arrival: Arrival, failure?: Error): void {
    if (arrival.isOver) return;
    arrival.isOver = true;
    this.#open.delete(arrival);
    try {
      if (failure && this.#isClosing && !this.#action.looks)
        endLogged(this.#RED, this.#node, failure, arrival.done);
      else arrival.done(failure);
    } catch (error) {
      // An error out of `done` itself, say of another package's hook, must not end the process.
      this.#node.error(asError(error));
    }
    // After the message was passed on: a process that ends in between reports it once more, and loses none.
    if (!arrival.kept?.isDetached) arrival.kept?.close();
    if (this.#open.size === 0) this.#onAllOver?.();
  }

  #throwIfClosed(arrival: Arrival): void {
    if (this.#closing.signal.aborted) throw closed(this.#deviceOf(arrival));
  }

  /** The device of a message that is about a single one. */
  #deviceOf({ kept, chipid }: Arrival): string | undefined {
    const [first, ...others] = kept?.chipids ?? [];
    return deviceIn(this.#config, others.length === 0 ? (first ?? chipid) : undefined);
  }

  /** Waits for the inputs of a message and of the messages before it. */
  #inOrder(values: Promise<InputValues<K>>): Promise<InputValues<K>> {
    // They may fail before they are awaited: that must not end the process.
    values.catch(() => undefined);
    return this.#readings.run(() => values);
  }
}

/**
 * Removes properties of a message and sets others.
 * @returns the message, or a copy if it cannot be changed: a function node may have frozen it
 */
export function withFields(
  msg: NodeMessage,
  remove: readonly string[],
  set: Readonly<Record<string, unknown>>,
): NodeMessage {
  try {
    if (remove.every((name) => Reflect.deleteProperty(msg, name))) return Object.assign(msg, set);
  } catch {
    // A copy can be changed.
  }
  const kept = Object.entries(msg).filter(([name]) => !remove.includes(name));
  return Object.assign(Object.fromEntries(kept), set);
}
