import assert from 'node:assert/strict';
import { startSimulator, type Simulator } from '../../../src/simulator';
import { LOOPBACK } from '../../tooling/servers/certs';
import {
  answerServer,
  echoServer,
  redirectServer,
  refusingProxy,
  type HostileServer,
} from '../../tooling/servers/hostile-servers';
import { secretSearch } from '../../tooling/secret-search';
import { until } from '../../tooling/until';
import { startNodeRed, type NodeRed } from './node-red';
import {
  devices,
  DEVKEY,
  KEYS,
  PROXY,
  secretsFlow,
  TELL_DEVKEYS,
  TYPED,
  type Hosts,
} from './secrets-flow';
import { observe, type Observer, type Observation } from './observer';

const SETTINGS = {
  contextStorage: { default: { module: 'localfilesystem', config: { flushInterval: 1 } } },
  logging: { console: { level: 'trace', metrics: false, audit: true } },
};

/** Milliseconds for all operations together to end: some answers are of 70 MB. */
const PATIENCE = 150_000;

/** What the tests for secrets work with. */
export interface SecretsWorld {
  simulator: Simulator;
  red: NodeRed;
  observer: Observer;
  hosts: Hosts;
  /** Sends each of the nodes its message, or several, and waits until all have ended. */
  askAll(messages: Readonly<Record<string, object | readonly object[]>>): Promise<void>;
  /** Fails if a secret or a signature is anywhere. */
  check(): Promise<void>;
  /** Fails if a secret or a signature is in a text. */
  checkText(where: string, text: string): void;
  /** Forgets the messages so far. */
  forget(): Promise<void>;
}

/** Hosts that do harm, those that cannot be reached, and a proxy that refuses. */
async function startHosts(): Promise<{ hosts: Hosts; servers: HostileServer[]; proxy: string }> {
  const known = Object.values(KEYS);
  const [echo, failing, redirect, untrusted, proxy] = await Promise.all([
    echoServer(400, known),
    echoServer(502, known),
    redirectServer(),
    answerServer([], LOOPBACK),
    refusingProxy(),
  ]);
  return {
    hosts: {
      echo: { baseUrl: echo.baseUrl },
      failing: { baseUrl: failing.baseUrl },
      redirect: { baseUrl: redirect.baseUrl },
      untrusted: { baseUrl: untrusted.baseUrl },
      dead: { baseUrl: 'http://127.0.0.1:1' },
      absent: { baseUrl: 'https://nowhere.invalid' },
      proxied: { proxy: 'proxy' },
    },
    servers: [echo, failing, redirect, untrusted, proxy],
    proxy: proxy.baseUrl,
  };
}

/** The one credential that is not a password: whoever may edit it may see it. */
const withoutUserName = ({ where, text }: Observation): string =>
  where.includes('credentials/') ? text.replace(JSON.stringify(KEYS.serverKey), '') : text;

/** Starts a service, hostile hosts and a Node-RED with nodes for all of them before the tests. */
export function secretsWorld(): SecretsWorld {
  const here: Partial<SecretsWorld> = {};
  const world = here as SecretsWorld;
  const close: (() => unknown)[] = [];
  const signs = new Set<string>();
  let servers: HostileServer[] = [];
  const search = secretSearch([KEYS, TYPED, PROXY].flatMap((keys) => Object.values(keys)));
  const searchDevkey = secretSearch([DEVKEY]);

  /** The signatures that were sent since the last look. */
  const noteSigns = (): void => {
    for (const { query, headers } of world.simulator.requests) {
      const sign = new URLSearchParams(query).get('sign') ?? headers['sign'];
      if (typeof sign === 'string') signs.add(sign);
    }
    for (const sign of servers.flatMap((server) => server.signs.splice(0))) signs.add(sign);
  };
  /** The records of devices, which some nodes send on, have their keys in them by the contract. */
  const withoutRecords = async ({ where, text }: Observation): Promise<string> => {
    if (where === 'the messages') {
      const records = await world.red.records();
      return JSON.stringify(records.filter(({ name }) => !TELL_DEVKEYS.includes(name)));
    }
    // Where the messages are kept.
    return /context.global/.test(where) ? '' : text;
  };

  here.checkText = (where, text) => {
    noteSigns();
    // Of older ones the plain form is enough, or this would take minutes.
    const found = search(text) ?? secretSearch([...signs].slice(-10))(text);
    assert.equal(found, undefined, `in ${where}: ${JSON.stringify(found)}`);
    const sent = [...text.matchAll(/[0-9a-f]{32}/gi)].find(([each]) => signs.has(each));
    assert.equal(sent, undefined, `a signature is in ${where}`);
  };
  here.check = async () => {
    for (const seen of await world.observer.collect()) {
      world.checkText(seen.where, withoutUserName(seen));
      const found = searchDevkey(await withoutRecords(seen));
      assert.equal(found, undefined, `in ${seen.where}: ${JSON.stringify(found)}`);
    }
    assert.ok(signs.size > 3, 'there were no signatures to look for');
  };
  here.askAll = async (messages) => {
    const ends = async (): Promise<number> =>
      (await world.red.records()).filter(
        ({ name, kind }) => name in messages && (kind === 'error' || kind === 'complete'),
      ).length;
    let due = await ends();
    for (const [name, message] of Object.entries(messages)) {
      const all = [message].flat().map((each) => ({ ...each }));
      due += all.length;
      await world.red.inject(name, ...all);
    }
    await until(async () => (await ends()) >= due, 'every message has ended', PATIENCE);
  };
  here.forget = () => world.red.forget();

  before(async () => {
    const quick = { interval: 0, answerDelay: 1, offlineAfter: 300, rebootTime: 1 };
    const simulator = (here.simulator = await startSimulator({ ...KEYS, devices, ...quick }));
    close.push(() => simulator.close());
    const started = await startHosts();
    ({ servers } = started);
    close.push(...servers.map((server) => () => server.close()));
    const hosts = (here.hosts = started.hosts);
    const red = (here.red = await startNodeRed({ settings: SETTINGS }));
    close.push(() => red.stop());
    const apps = ['app', ...Object.keys(hosts)].map((id) => `device-cloud/apps/${id}/devices`);
    const observer = (here.observer = await observe(red, apps));
    close.push(() => observer.close());
    await red.deploy(secretsFlow(simulator, hosts, started.proxy));
  });
  after(async () => {
    for (const each of close.reverse()) await each();
  });
  return world;
}
