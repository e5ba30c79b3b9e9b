import type { Node, NodeAPI, NodeDef, NodeMessage, NodeStatus } from 'node-red';
import type {
  DeviceCloudClient,
  PulseOptions,
  PushOptions,
  RequestProgress,
  SavedCall,
  ValueOptions,
} from '../../src/index';
import type { Api, App } from './app';
import type { DeviceTypes } from './device-types';
import type { InputValues } from './inputs';
import type { Choices } from './settings';

/** The context in which a message is handled. */
export interface ActionCall<C, K extends string> {
  /** The node's properties, with the defaults of those that are missing. */
  config: C;
  /** The values of its inputs for this message, as they came: the client checks its arguments. */
  inputs: InputValues<K>;
  msg: NodeMessage;
  types: DeviceTypes;
  client: DeviceCloudClient;
  app: App;
  node: Node;
  RED: NodeAPI;
  /** Ends the call when the node closes. */
  signal: AbortSignal;
  /** Shows what the call waits for. */
  onProgress: (progress: RequestProgress) => void;
  /** Says that commands of the message may wait. */
  onKept: (kept: SavedCall) => void;
}

/** The answer of a call; over a channel it has no status. */
export interface CallAnswer<T = unknown> {
  body: T;
  statusCode?: number | undefined;
  /** What makes it doubtful that the command was carried out. */
  warning?: string;
}

/** What a call puts on its message: `payload`, `statusCode` and `warning` if there are, and more. In a new object. */
export type CallFields = Record<string, unknown>;

/** The methods of the client that nodes call by name, so that a call which waits can be saved. */
type CallName =
  | ('app' | 'devices' | 'push' | 'pushToApp' | 'pushOverChannel' | 'rtStatus')
  | ('gpioStatus' | 'setGpioEdge' | 'pulseGpio' | 'refresh' | 'reboot')
  | `server${'Devices' | 'Device' | 'Update' | 'Passthrough' | 'Uploads'}`;

/** A call of the client, as data: one whose commands wait for their devices is saved. */
export interface Plan {
  call: CallName;
  /** The first argument of a call to a device: a chip number or, if the node takes several, an array of them. */
  device?: unknown;
  /** Its further arguments, as they came. */
  args: readonly unknown[];
  /** The same where they depend on the device. @throws DeviceCloudError `INVALID_INPUT` before anything is sent */
  argsOf?: (chipid: string, client: DeviceCloudClient) => readonly unknown[];
  options?: Pick<PushOptions & PulseOptions & ValueOptions, PlanOption>;
  /** Makes the fields of the message; if it is left out: `payload`, `statusCode` and `warning`. It knows what the body is. */
  fields?: (answer: CallAnswer<never>, chipid: string, client: DeviceCloudClient) => CallFields;
  /** Turns an error into an answer, or throws it. */
  onError?: (error: unknown) => CallAnswer;
}
type PlanOption = 'timeout' | 'format' | 'when' | 'expires' | 'replace' | 'duration' | 'datatype';

/** The result of a call: fields to put on the message, or messages to send instead of it. */
export type Outcome = ({ set: Readonly<CallFields> } | { messages: NodeMessage[] }) & {
  /** Called when Node-RED has passed the messages on; a sequential node takes the next one after it. */
  sent?: () => void;
  /** Properties that an earlier node may have left, to be removed from a message that succeeds. */
  remove?: readonly string[];
  /** The message ends with this error instead, and has the fields all the same. */
  error?: Error;
};

/** What a node does besides handling messages is made with. */
export interface Background<C> {
  RED: NodeAPI;
  node: Node;
  config: C;
  app: App;
  /** Shows a status while no call runs. */
  showIdle: (status: () => NodeStatus) => void;
}

/** The parts in which action nodes differ. */
export interface Action<C extends object, K extends string> {
  /** Which keys it needs. */
  api: Api;
  defaults: C;
  choices?: Choices;
  /** The typed properties, `x` with `xType`, that it reads for each message. */
  inputs: (config: C) => readonly K[];
  /**
   * Whether `msg.cancel` cancels the node's commands that wait. With other settings of the node none may wait: then such a message
   * does nothing, rather than act.
   */
  waits?: (config: C) => boolean;
  /** Whether a message waits until the one before it is done. */
  sequential?: (config: C) => boolean;
  /** Whether it only looks: that a message came to nothing since the flows were stopped is not worth a line of the log. */
  looks?: boolean;
  /** Seconds for which a close waits for the calls to end by themselves, default 0. */
  closing?: (config: C) => number;
  /** What the node does besides handling messages, from its start on. @returns what ends it when the node closes or is removed */
  start?: (background: Background<C>) => ((removed: boolean) => void) | undefined;
  /** Handles a message. Whatever it throws ends the message with an error. */
  perform: (call: ActionCall<C, K>) => Promise<Outcome>;
}

/**
 * What is behind the nodes of a type, once for each Node-RED.
 * @returns a function for each new node, after Node-RED has created it
 */
export type Runtime<C extends object, N extends Node = Node> = (
  RED: NodeAPI,
) => (node: N, def: NodeDef & C) => void;

/** Declares an action node, with the types of its properties and inputs. */
export const defineAction = <C extends object, K extends string>(
  action: Action<C, K>,
): Action<C, K> => action;
