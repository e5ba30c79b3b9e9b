import assert from 'node:assert/strict';
import { foundation } from './flows';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { recent, type Child } from '../../tooling/process';
import { TIMEOUT, until } from '../../tooling/until';
import { request } from './request';

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
  /** Everything that was recorded so far. */
  records(): Promise<readonly Recorded[]>;
  /** What was recorded under a name so far. */
  results(name: string, kind?: Recorded['kind']): Promise<Message[]>;
  /** Waits until that many are recorded, and gives all there are by then. */
  waitFor(name: string, kind: Recorded['kind'], count?: number): Promise<Message[]>;
  /** Sends one message and waits for its end: what was sent on, or the error. */
  ask(name: string, message: Message): Promise<{ sent: Message[]; error?: Message }>;
  /** Forgets the records so far. */
  forget(): Promise<void>;
  /** Fails unless every message injected so far has ended in exactly one done. */
  everyMessageEndedOnce(): Promise<void>;
  log: Child['log'];
  logged: Child['logged'];
  /** Ends it as a system would; rejects when it had died before or does not go by itself. */
  stop: () => Promise<void>;
  pid: Child['pid'];
  /** Its user folder, for a later one to go on with. */
  userDir: string;
}

/**
 * Drives a Node-RED that runs.
 * @param url of its editor and its admin API
 * @param login the header that says who asks, where it wants to know
 */
export function drive(
  red: Child,
  url: string,
  login: Record<string, string>,
): Omit<NodeRed, 'userDir'> {
  const injected = new Map<string, number>();
  // The nodes' own addresses are not below the editor's.
  const site = new URL(url).origin;

  const call = (address: string, init: RequestInit = {}): Promise<Response> =>
    red.guard(request(address, { signal: AbortSignal.timeout(TIMEOUT), ...init }), address);

  const post = async (address: string, body: unknown, headers = {}): Promise<void> => {
    const response = await call(address, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `POST ${address}: ${response.status} ${await response.text()}`);
  };

  let known: readonly Recorded[] = [];
  /** All records, of which only those are asked for that are not known yet. */
  const read = async (): Promise<readonly Recorded[]> => {
    const before = known;
    const response = await call(`${site}/records?from=${before.length}`);
    const { length, records } = (await response.json()) as { length: number; records: Recorded[] };
    assert.ok(length >= before.length, 'records have gone that nobody has asked to forget');
    known = [...before, ...records];
    return known;
  };

  const results: NodeRed['results'] = async (name, kind) => {
    const records = await read();
    return records
      .filter((entry) => entry.name === name && (kind === undefined || entry.kind === kind))
      .map((entry) => entry.msg);
  };

  /** Waits for something, and shows the log if it does not come. */
  const wait = <T>(look: () => Promise<T>, what: string) => red.guard(until(look, what), what);

  const waitFor: NodeRed['waitFor'] = (name, kind, wanted = 1) =>
    wait(async () => {
      const found = await results(name, kind);
      return found.length >= wanted && found;
    }, `${name} has ${wanted} × ${kind}`);

  const inject: NodeRed['inject'] = async (name, ...messages) => {
    injected.set(name, (injected.get(name) ?? 0) + messages.length);
    await post(`${site}/in/${name}`, messages);
  };

  const ask: NodeRed['ask'] = async (name, message) => {
    const before = (await read()).filter((entry) => entry.name === name).length;
    await inject(name, message);
    return wait(async () => {
      const fresh = (await read()).filter((entry) => entry.name === name).slice(before);
      const error = fresh.find((entry) => entry.kind === 'error')?.msg;
      if (!error && !fresh.some((entry) => entry.kind === 'complete')) return undefined;
      const sent = fresh.filter((entry) => entry.kind === 'out').map((entry) => entry.msg);
      return error ? { sent, error } : { sent };
    }, `${name} has answered`);
  };

  const forget = async (): Promise<void> => {
    const address = `${url}/context/global/records`;
    const { ok } = await call(address, { method: 'DELETE', headers: login });
    assert.ok(ok, `${address} cannot be deleted`);
    known = [];
  };

  const deploy: NodeRed['deploy'] = async (flows, type = 'full') => {
    const from = red.log().length;
    const headers = { ...login, 'Node-RED-Deployment-Type': type };
    await post(`${url}/flows`, [...foundation, ...flows], headers);
    // The answer comes when the old flows have stopped; the new ones are ready a little later.
    await red.logged(/Started (modified )?(flows|nodes)/, from);
    const { ok } = await call(`${site}/records?from=${known.length}`);
    assert.ok(ok, `The flows have not started. Node-RED's log:\n${recent(red.log())}`);
  };

  return {
    url,
    inject,
    deploy,
    forget,
    records: read,
    results,
    waitFor,
    ask,
    log: red.log,
    logged: red.logged,
    stop: () => red.end(),
    pid: red.pid,
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
