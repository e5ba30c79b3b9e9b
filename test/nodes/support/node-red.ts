import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import helper from 'node-red-node-test-helper';
import { startSimulator, type Simulator, type SimulatorOptions } from '../../../src/simulator';
import { Files } from '../../../src/store/files';
import { cloudApp, load } from './flow';
import { closeJournal, journal, startJournal, stopJournal } from './journal';
import { CANARIES } from './secrets';
import { currentDialect } from '../../tooling/dialect';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { startSilentServer, type SilentServer } from '../../tooling/servers/silent-server';
import { temporaryFolder } from '../../tooling/temporary-folder';
import { until } from '../../tooling/until';

export const userDir = temporaryFolder('nodes');

const { version } = JSON.parse(readFileSync(require.resolve('node-red/package.json'), 'utf8')) as {
  version: string;
};

/** What the application `app` keeps over a restart. */
export const stateFolder = join(userDir, 'device-cloud', 'app');

/** The entries of a kind that are on the disk. */
export function written(kind: string): Record<string, unknown> {
  const path = join(stateFolder, `${kind}.json`);
  if (!existsSync(path)) return {};
  return (JSON.parse(readFileSync(path, 'utf8')) as { entries: Record<string, unknown> }).entries;
}

/** The commands that are on the disk: those that wait, or those that have begun. */
export function writtenCommands(state: 'waiting' | 'begun' = 'waiting'): string[] {
  const all = existsSync(stateFolder) ? readdirSync(stateFolder) : [];
  const names = all.filter((name) => name.endsWith(`.${state}.json`));
  return names.map((name) => readFileSync(join(stateFolder, name), 'utf8'));
}

/** Puts a waiting command where an earlier process would have left it. */
export async function leaveCommand(chipid: string, id: string, value: object): Promise<void> {
  const key = `command:${chipid}:${id}`;
  const files = new Files(stateFolder, { of: () => 'one', log: assert.fail });
  await files.write(key, new Map([[key, value]]), () => new Map());
}

/** The services of a test: what is left open on them when the flow has stopped is a leak. */
const clouds: Pick<Simulator, 'sockets' | 'close'>[] = [];

/** A service for one test: quiet devices that answer at once, and keys that would be seen if leaked. */
export async function startCloud(options: SimulatorOptions = {}): Promise<Simulator> {
  const quick = { interval: 0, answerDelay: 0, offlineAfter: 100, rebootTime: 0 };
  const cloud = await startSimulator({
    ...{ ...quick, ...CANARIES, dialect: currentDialect() },
    ...options,
  });
  clouds.push(cloud);
  return cloud;
}

/** A service for one test, and a flow on it: the application and these nodes. */
export async function startWith(...nodes: FlowNode[]): Promise<Simulator> {
  const cloud = await startCloud();
  await load([cloudApp(cloud), ...nodes]);
  return cloud;
}

/** A service for one test that accepts connections and never answers. */
export async function startSilence(): Promise<SilentServer> {
  const silence = await startSilentServer();
  clouds.push(silence);
  return silence;
}

/** Has a server checked and ended as the services of a test are. */
export async function keep<S extends Pick<Simulator, 'sockets' | 'close'>>(
  starting: Promise<S>,
): Promise<S> {
  const server = await starting;
  clouds.push(server);
  return server;
}

/** The flow has stopped: not a connection is left, and no node says anything any more. */
async function checkNothingLeft(): Promise<void> {
  const { length } = journal.statuses;
  for (const cloud of clouds) await until(() => cloud.sockets() === 0, 'every connection ends');
  assert.equal(journal.statuses.length, length, 'a node showed a status after its close');
}

/** Runs the tests of a `describe` in Node-RED, and checks after each what holds of all of them. */
export function useNodeRed(): void {
  before(async () => {
    // Node-RED sets its version itself, the helper does not. Its types leave the function out.
    (helper as unknown as { settings(settings: object): void }).settings({ userDir, version });
    await helper.startServer();
    startJournal();
  });
  afterEach(async () => {
    try {
      await helper.unload();
      await checkNothingLeft();
    } finally {
      for (const cloud of clouds.splice(0)) await cloud.close();
      rmSync(join(userDir, 'device-cloud'), { recursive: true, force: true });
      closeJournal();
    }
  });
  after(async () => {
    stopJournal();
    await helper.stopServer();
  });
}
