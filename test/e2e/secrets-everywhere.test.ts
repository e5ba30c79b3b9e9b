import assert from 'node:assert/strict';
import { startSimulator, type Simulator } from '../../src/simulator';
import { secretSearch } from '../tooling/secret-search';
import { comesToHold, until } from '../tooling/until';
import { ONE } from './harness/devices';
import { startNodeRed, type NodeRed } from './harness/node-red';
import { observe, type Observation, type Observer } from './harness/observer';
import { request } from './harness/request';
import { devices, DEVKEY, KEYS, MESSAGES, secretsFlow, TELL_DEVKEYS } from './harness/secrets-flow';

const SETTINGS = {
  contextStorage: { default: { module: 'localfilesystem', config: { flushInterval: 1 } } },
  logging: { console: { level: 'trace', metrics: false, audit: true } },
};

/** The one credential that is not a password: whoever may edit it may see it. */
const withoutUserName = ({ where, text }: Observation): string =>
  where.includes('credentials/') ? text.replace(JSON.stringify(KEYS.serverKey), '') : text;

/**
 * Whatever a real Node-RED shows or leaves behind, with an answer of each kind. After every test of test/nodes, and so after
 * each fault and each hostile host, the same is searched for in what the nodes have shown.
 */
describe('secrets that were entered as credentials', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let observer: Observer;
  const signs = new Set<string>();
  const search = secretSearch(Object.values(KEYS));
  const searchDevkey = secretSearch([DEVKEY]);

  before(async () => {
    const quick = { interval: 0, answerDelay: 1, offlineAfter: 300, rebootTime: 1 };
    simulator = await startSimulator({ ...KEYS, devices, ...quick });
    red = await startNodeRed({ settings: SETTINGS });
    observer = await observe(red, ['device-cloud/apps/app/devices']);
    await red.deploy(secretsFlow(simulator));
    await until(() => simulator.channels(ONE) === 1, 'the listener has its channel');
  });
  after(async () => {
    observer.close();
    await red.stop();
    await simulator.close();
  });

  function checkText(where: string, text: string): void {
    for (const { query, headers } of simulator.requests) {
      const sign = new URLSearchParams(query).get('sign') ?? headers['sign'];
      if (typeof sign === 'string') signs.add(sign);
    }
    // Of older ones the plain form is enough, or this would take minutes.
    const found = search(text) ?? secretSearch([...signs].slice(-10))(text);
    assert.equal(found, undefined, `in ${where}: ${JSON.stringify(found)}`);
    const sent = [...text.matchAll(/[0-9a-f]{32}/gi)].find(([each]) => signs.has(each));
    assert.equal(sent, undefined, `a signature is in ${where}`);
  }

  /** The records of devices, which some nodes send on, have their keys in them by the contract. */
  async function withoutRecords({ where, text }: Observation): Promise<string> {
    if (where === 'the messages') {
      const records = await red.records();
      return JSON.stringify(records.filter(({ name }) => !TELL_DEVKEYS.includes(name)));
    }
    // Where the messages are kept.
    return /context.global/.test(where) ? '' : text;
  }

  /** Fails if a secret or a signature is anywhere. */
  async function check(): Promise<void> {
    for (const seen of await observer.collect()) {
      checkText(seen.where, withoutUserName(seen));
      const found = searchDevkey(await withoutRecords(seen));
      assert.equal(found, undefined, `in ${seen.where}: ${JSON.stringify(found)}`);
    }
    assert.ok(signs.size > 3, 'there were no signatures to look for');
  }

  /** Has each operation meet what there is, and searches. @returns the errors of their messages */
  async function askAll(): Promise<(string | undefined)[]> {
    const asked = Object.entries(MESSAGES).map(([name, message]) => red.ask(name, { ...message }));
    const ends = await Promise.all(asked);
    await check();
    await red.forget();
    return ends.flatMap(({ error }) => (error ? [error.error?.message] : []));
  }

  it('are in no message, status or log when everything works', async () => {
    assert.deepEqual(await askAll(), []);
  });

  it('are nowhere when each operation is refused, or its connection breaks', async () => {
    for (const fault of ['unauthorized', 'reset-in-body'] as const) {
      simulator.fail(fault);
      assert.notDeepEqual(await askAll(), []);
      simulator.heal();
    }
  });

  it('are nowhere when the channel brings no upload, and is closed', async () => {
    simulator.fail('bad-json', { times: 1 });
    simulator.upload(ONE, 'no JSON');
    await red.logged(/not JSON/);
    simulator.disconnect(undefined, 1008);
    await red.logged(/channel is down/);
    await check();
  });

  it('do not reach the editor, which is informed only whether there are any', async () => {
    const response = await request(`${red.url}/credentials/device-cloud-app/app`);
    assert.deepEqual(await response.json(), {
      // By its type text, as a user name: the password that belongs to it stays.
      serverKey: KEYS.serverKey,
      has_appkey: true,
      has_serverPassword: true,
    });
  });

  it('would be found in every one of these places', async () => {
    const planted = 'Canary-Planted-0D4C';
    const find = secretSearch([planted]);
    const missing = new Set([
      'the log',
      'what the open editor is sent',
      'the messages',
      'the answer to GET /context/flow/tab',
      // Written a second later.
      'the file context/tab/flow.json',
    ]);
    await red.ask('plant', { secret: planted });
    const search = async (): Promise<boolean> => {
      const seen = await observer.collect();
      for (const { where, text } of seen) if (find(text)) missing.delete(where);
      return missing.size === 0;
    };
    await comesToHold(search);
    assert.deepEqual([...missing], [], 'places where it is not found');
  });
});
