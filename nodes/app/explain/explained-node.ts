import type { DeviceCloudClient, Explanation } from '../../../src/index';
import type { InputTable } from '../../common/inputs';
import type { Api } from '../../common/app';
import type { NodeNote } from './explain-notes';

/** Properties of a node as the editor saves them; no input is anything else. */
export type SavedProperties = Readonly<Record<string, string | number | boolean>>;

/** What a node is explained by: its properties as saved, and what it reads of the message. */
export interface Explained {
  client: DeviceCloudClient;
  config: SavedProperties;
  inputs: Readonly<Partial<Record<string, unknown>>>;
  msg: Readonly<Record<string, unknown>>;
  /** Takes what should be known besides. */
  note: (note: NodeNote) => void;
}

/** How the calls of a node are explained. */
export interface ExplainedNode {
  api: Api;
  inputs: (config: Explained['config']) => InputTable<string>;
  explain: (node: Explained) => Explanation;
}
