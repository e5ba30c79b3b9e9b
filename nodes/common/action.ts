import type { Node, NodeAPI, NodeMessage } from 'node-red';
import type { DeviceCloudClient, RequestProgress } from '../../src/index';
import type { Api, App } from './app';
import type { InputTable, InputValues } from './inputs';

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
  onProgress: (progress: RequestProgress) => void;
}

/** The result of a call: fields to put on the message, or messages to send instead of it. */
export type Outcome = ({ set: Readonly<Record<string, unknown>> } | { messages: NodeMessage[] }) & {
  /** Called when Node-RED has passed the messages on; a sequential node takes the next one after it. */
  sent?: () => Promise<void>;
  /** Properties that an earlier node may have left, to be removed from a message that succeeds. */
  remove?: readonly string[];
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
