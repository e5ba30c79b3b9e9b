import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FaultName } from '../../src/simulator';
import { secretSearch } from '../tooling/secret-search';
import { comesToHold, until } from '../tooling/until';
import { ONE } from './harness/fixture';
import { OPERATIONS } from './harness/operations';
import { deviceOf, EVENTS, KEYS, TYPED, UPGRADES } from './harness/secrets-flow';
import { secretsWorld } from './harness/secrets-world';
import { request } from './harness/request';

/**
 * One that is answered, and one that is not: after every test of test/nodes, and so after each fault, the same is searched
 * for in what the nodes have shown.
 */
const FAULTS: FaultName[] = ['unauthorized', 'reset-in-body'];

describe('secrets that were entered as credentials, whatever goes wrong', () => {
  const here = secretsWorld();
  const everything = Object.fromEntries(
    Object.entries(OPERATIONS).map(([name, [, message]], index) => {
      const chipid = deviceOf(EVENTS.length + UPGRADES.length + index);
      return [name, { chipid, ...message }];
    }),
  );

  it('are in no message, status or log when everything works', async () => {
    await here.askAll(everything);
    const failed = (await here.red.records())
      .filter(({ kind, name }) => kind === 'error' && name in everything)
      .map(({ msg }) => msg.error?.message);
    assert.deepEqual(failed, []);
    await here.check();
    await here.forget();
  });

  for (const fault of FAULTS) {
    it(`are nowhere when each operation meets the fault ${fault}`, async () => {
      here.simulator.fail(fault);
      await here.askAll(everything);
      here.simulator.heal();
      await here.check();
      await here.forget();
    });
  }

  it('are nowhere when a channel cannot be opened', async () => {
    const pushes = UPGRADES.map((fault, index) => {
      const chipid = deviceOf(EVENTS.length + index);
      here.simulator.fail(fault, { chipid });
      return { chipid, payload: 'x' };
    });
    await here.askAll({ 'push-over-channel': pushes });
    here.simulator.heal();
    await here.check();
  });

  it('are nowhere when a channel brings something other than an upload', async () => {
    const send = async (): Promise<void> => {
      for (const [index, fault] of EVENTS.entries()) {
        const chipid = deviceOf(index);
        await until(
          () => here.simulator.channels(chipid) === 1,
          `the channel of ${chipid} is open`,
        );
        here.simulator.fail(fault, { chipid, times: 1 });
        here.simulator.upload(chipid, 'no JSON');
      }
    };
    const faults = [
      ...['not JSON', 'not a JSON object', 'not Base64', "another device's", 'no body'],
      ...['binary', 'channel is down'],
    ];
    // A fault that the channel of its device took down before it came is sent again.
    const missing = (): string[] => faults.filter((line) => !here.red.log().includes(line));
    for (let rounds = 0; rounds < 5 && missing().length > 0; rounds++) {
      await send();
      await comesToHold(() => missing().length === 0, 5000);
      here.simulator.heal();
    }
    assert.deepEqual(missing(), [], 'faults that Node-RED has not logged');
    here.simulator.disconnect(undefined, { code: 1008 });
    await here.askAll({ latest: {} });
    await here.check();
    await here.forget();
  });

  it('are nowhere when a host repeats them, redirects, is not trusted or cannot be reached', async () => {
    const messages = Object.keys(here.hosts).flatMap((host) =>
      ['push', 'channel', 'list', 'server', 'history', 'request'].map((kind) => `${kind}-${host}`),
    );
    const message = { chipid: ONE, payload: 'x', page: 1, count: 1 };
    await here.askAll(Object.fromEntries(messages.map((name) => [name, message])));
    await here.check();
    await here.forget();
  });

  it('are nowhere when the editor tests right and wrong ones', async () => {
    const { baseUrl, appid } = here.simulator;
    for (const [name, host] of Object.entries({ right: {}, ...here.hosts })) {
      for (const credentials of [undefined, TYPED]) {
        // Nobody could know the right keys, which these would tell to the wrong ones.
        if (credentials && (name === 'echo' || name === 'failing')) continue;
        const settings = { id: 'app', baseUrl, appid, credentials, ...host };
        const response = await request(`${here.red.url}/device-cloud/apps/test`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(settings),
        });
        const text = await response.text();
        here.checkText(`the answer to a test of ${name}`, text);
      }
    }
    await here.check();
  });

  it('do not reach the editor, which is informed only whether there are any', async () => {
    const response = await request(`${here.red.url}/credentials/device-cloud-app/app`);
    assert.deepEqual(await response.json(), {
      // By its type text, as a user name: the password that belongs to it stays.
      serverKey: KEYS.serverKey,
      has_appkey: true,
      has_serverPassword: true,
    });
  });

  it('are in the file for credentials', async () => {
    const text = await readFile(join(here.red.userDir, 'flows_cred.json'), 'utf8');
    for (const key of Object.values(KEYS)) assert.ok(secretSearch([key])(text), key);
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
    await here.askAll({ plant: { secret: planted } });
    const search = async (): Promise<boolean> => {
      const seen = await here.observer.collect();
      for (const { where, text } of seen) if (find(text)) missing.delete(where);
      return missing.size === 0;
    };
    await comesToHold(search);
    assert.deepEqual([...missing], [], 'places where it is not found');
  });
});
