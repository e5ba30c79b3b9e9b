import { logIn } from './admin';
import type { User } from '../../tooling/editor/page';
import { drive } from './drive';
import type { NodeRed } from './drive';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { userDirWithPackage } from './packed';
import { SETTINGS as USUAL, startNodeRed as start } from '../../tooling/node-red/process';

export type { Message, NodeRed, Recorded } from './drive';

interface StartOptions {
  flows?: FlowNode[];
  env?: NodeJS.ProcessEnv;
  settings?: object;
  /** Who deploys, where the settings ask for a log-in. */
  user?: User;
  /** The folder of an earlier one; default: a fresh one with the package installed in it. */
  userDir?: string;
}

/** Starts Node-RED in a user folder, and deploys `flows`. */
export async function startNodeRed(options: StartOptions = {}): Promise<NodeRed> {
  const userDir = options.userDir ?? userDirWithPackage('user');
  const settings = { ...SETTINGS, ...options.settings };
  const red = await start({ userDir, settings, env: options.env ?? {} });
  try {
    const login = options.user ? await logIn(red.url, options.user) : {};
    const nodeRed = { ...drive(red, red.url, login), userDir };
    if (options.flows) await nodeRed.deploy(options.flows);
    return nodeRed;
  } catch (error) {
    await red.end();
    throw error;
  }
}

/** Core nodes that no flow of these tests has, and that take a fifth of the time of a start to load. */
const UNUSED = ['10-mqtt.js', '21-httprequest.js', '70-HTML.js', '70-XML.js'];

const SETTINGS = {
  lang: 'en-US',
  nodesExcludes: [...USUAL.nodesExcludes, ...UNUSED],
  logging: { console: { level: 'trace', metrics: false, audit: false } },
};
