import type { DeviceCloudClient, Explanation } from '../../../src/index';
import type { InputTable } from '../../common/inputs';
import type { Api } from '../../common/app';
import type { NodeNote } from './explain-notes';

/** Properties of a node as the editor saves them; no input is anything else. */
export type SavedProperties = Readonly<Record<string, string | number | boolean>>;

/** The basis of an explanation: the properties as saved, and the values that the node reads of the message. */
export interface Explained {
  client: DeviceCloudClient;
  config: SavedProperties;
  inputs: Readonly<Partial<Record<string, unknown>>>;
  msg: Readonly<Record<string, unknown>>;
  /** Adds a note. */
  note: (note: NodeNote) => void;
}

/** How the calls of a node are explained. */
export interface ExplainedNode {
  api: Api;
  inputs: (config: Explained['config']) => InputTable<string>;
  explain: (node: Explained) => Explanation;
}
