import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { foundation } from './flows';
import type { FlowNode } from './flows';
import { userDirWithPackage } from './packed';
import { PATIENCE, recent, spawnNodeRed } from './process';
import type { NodeRedProcess } from './process';

export interface Message {
  payload?: unknown;
  error?: { message: string; code?: string; source: { id: string; type: string } };
  status?: { text?: string; fill?: string; shape?: string };
  [property: string]: unknown;
}

export interface Recorded {
  name: string;
  kind: 'out' | 'error' | 'complete' | 'status';
  msg: Message;
}

/** A real Node-RED with the packed package installed, driven from a test. */
export interface NodeRed {
  url: string;
  /** Replaces the flows; `type` as in the editor's deploy menu. */
  deploy(flows: FlowNode[], type?: 'full' | 'flows' | 'nodes'): Promise<void>;
  /** Sends messages, in this order, to the node under test of that name. */
  inject(name: string, ...messages: Message[]): Promise<void>;
  /** What was recorded under a name so far. */
  results(name: string, kind?: Recorded['kind']): Promise<Message[]>;
  /** Waits until that many are recorded, and gives all there are by then. */
  waitFor(name: string, kind: Recorded['kind'], count?: number): Promise<Message[]>;
  /** Sends one message and waits for its end: what was sent on, or the error. */
  ask(name: string, message: Message): Promise<{ sent: Message[]; error?: Message }>;
  /** Fails unless every message injected so far has ended in exactly one done. */
  everyMessageEndedOnce(): Promise<void>;
  log: NodeRedProcess['log'];
  stop: NodeRedProcess['stop'];
}

let count = 0;

/** Starts Node-RED in a fresh user folder with the package installed in it, and deploys `flows`. */
export async function startNodeRed(
  options: { flows?: FlowNode[]; env?: NodeJS.ProcessEnv; settings?: object } = {},
): Promise<NodeRed> {
  count += 1;
  const userDir = await userDirWithPackage(`user-${count}`);
  const settingsFile = join(userDir, 'settings.json');
  await writeFile(join(userDir, 'flows.json'), '[]');
  await writeFile(settingsFile, JSON.stringify({ ...SETTINGS, ...options.settings }));
  const red = spawnNodeRed(settingsFile, userDir, options.env ?? {});
  const [, url] = await red.logged(/now running at (http:\S+?)\/?\s/);
  await red.logged(/Started flows/);
  const nodeRed = drive(red, url!);
  if (options.flows) await nodeRed.deploy(options.flows);
  return nodeRed;
}

const SETTINGS = {
  flowFile: 'flows.json',
  uiHost: '127.0.0.1',
  credentialSecret: false,
  lang: 'en-US',
  telemetry: { enabled: false },
  editorTheme: { tours: false },
  // The dashboard is the demo's; these are the nodes of a bare Node-RED and ours.
  nodesExcludes: ['node-red-dashboard'],
  logging: { console: { level: 'trace', metrics: false, audit: false } },
};

function drive(red: NodeRedProcess, url: string): NodeRed {
  const injected = new Map<string, number>();

  const call = (path: string, init: RequestInit = {}): Promise<Response> =>
    red.guard(fetch(`${url}${path}`, { signal: AbortSignal.timeout(20_000), ...init }), path);

  const post = async (path: string, body: unknown, headers = {}): Promise<void> => {
    const response = await call(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `POST ${path}: ${response.status} ${await response.text()}`);
  };

  const read = async (): Promise<Recorded[]> =>
    (await (await call('/records')).json()) as Recorded[];

  const results: NodeRed['results'] = async (name, kind) => {
    const records = await read();
    return records
      .filter((entry) => entry.name === name && (kind === undefined || entry.kind === kind))
      .map((entry) => entry.msg);
  };

  const until = async <T>(look: () => Promise<T | undefined>, what: string): Promise<T> => {
    const deadline = Date.now() + PATIENCE;
    while (Date.now() < deadline) {
      const found = await look();
      if (found !== undefined) return found;
      await sleep(20);
    }
    throw new Error(
      `Over ${PATIENCE / 1000} s until ${what}. Node-RED's log:\n${recent(red.log())}`,
    );
  };

  const waitFor: NodeRed['waitFor'] = (name, kind, wanted = 1) =>
    until(async () => {
      const found = await results(name, kind);
      return found.length >= wanted ? found : undefined;
    }, `${name} has ${wanted} × ${kind}`);

  const inject: NodeRed['inject'] = async (name, ...messages) => {
    injected.set(name, (injected.get(name) ?? 0) + messages.length);
    await post(`/in/${name}`, messages);
  };

  const ask: NodeRed['ask'] = async (name, message) => {
    const before = (await read()).filter((entry) => entry.name === name).length;
    await inject(name, message);
    return until(async () => {
      const fresh = (await read()).filter((entry) => entry.name === name).slice(before);
      const error = fresh.find((entry) => entry.kind === 'error')?.msg;
      if (!error && !fresh.some((entry) => entry.kind === 'complete')) return undefined;
      const sent = fresh.filter((entry) => entry.kind === 'out').map((entry) => entry.msg);
      return error ? { sent, error } : { sent };
    }, `${name} has answered`);
  };

  return {
    url,
    inject,
    results,
    waitFor,
    ask,
    log: red.log,
    stop: red.stop,
    async deploy(flows, type = 'full') {
      const from = red.log().length;
      await post('/flows', [...foundation, ...flows], { 'Node-RED-Deployment-Type': type });
      // The answer comes when the old flows have stopped; the new ones are ready a little later.
      await red.logged(/Started (modified )?(flows|nodes)/, from);
      const { ok } = await call('/records');
      assert.ok(ok, `The flows have not started. Node-RED's log:\n${recent(red.log())}`);
    },
    async everyMessageEndedOnce() {
      const records = await read();
      for (const [name, messages] of injected) {
        const ends = records.filter(
          (entry) => entry.name === name && (entry.kind === 'error' || entry.kind === 'complete'),
        );
        assert.equal(ends.length, messages, `messages of ${name} and their ends`);
      }
    },
  };
}
