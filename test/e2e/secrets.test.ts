import assert from 'node:assert/strict';
import { ONE, fixture } from './harness/fixture';
import { until } from '../../tooling/until';
import { around } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

const KEYS = {
  appkey: 'E2E-App-Key-Secret',
  serverKey: 'E2E-Server-Key',
  serverPassword: 'E2E-Server-Password-Secret',
};

describe('secrets in a real Node-RED', () => {
  const here = fixture(
    (simulator) => [
      // As a user would have it: the flow holds names of variables only.
      app(
        simulator,
        { appid: '${E2E_APPID}', timeout: '1' },
        {
          appkey: '${E2E_APPKEY}',
          serverKey: '${E2E_SERVER_KEY}',
          serverPassword: '${E2E_PASSWORD}',
        },
      ),
      ...around('push', node('push', { timeout: '1' })),
      ...around('channel', node('push', { transport: 'channel', timeout: '1' })),
      ...around('server', node('server')),
      ...around('listen', node('listen', { chipids: [ONE] })),
    ],
    {
      simulator: { ...KEYS, appid: '777' },
      env: {
        E2E_APPID: '777',
        E2E_APPKEY: KEYS.appkey,
        E2E_SERVER_KEY: KEYS.serverKey,
        E2E_PASSWORD: KEYS.serverPassword,
      },
    },
  );

  it('come from environment variables, and from there into signatures alone', async () => {
    for (const fault of [undefined, 'unauthorized', 'hang', 'html', 'reset'] as const) {
      for (const name of ['push', 'server']) {
        if (fault !== undefined) here.simulator.fail(fault, { times: 3 });
        const { error } = await here.red.ask(name, {
          chipid: ONE,
          payload: 'x',
          page: 1,
          count: 1,
        });
        if (fault === undefined) assert.equal(error, undefined);
        here.simulator.heal();
      }
    }
    // The refusal last: after one, the next attempt is long in coming.
    for (const fault of ['answer-upgrade', 'reset-upgrade', 'refuse-upgrade'] as const) {
      const before = here.simulator.requests.length;
      here.simulator.fail(fault, { times: 1 });
      here.simulator.disconnect();
      await until(() => here.simulator.requests.length > before, 'it has tried to connect');
      await here.red.ask('channel', { chipid: ONE, payload: 'x' });
      here.simulator.heal();
    }
    const signs = here.simulator.requests.flatMap(({ query, headers }) => [
      new URLSearchParams(query).get('sign'),
      headers['sign'],
    ]);
    const secrets = [KEYS.appkey, KEYS.serverPassword, ...signs.filter((sign) => sign)].map(String);
    assert.ok(secrets.length > 10, 'there were signatures to look for');

    const records = await Promise.all(
      ['push', 'channel', 'server', 'listen'].map((name) => here.red.results(name)),
    );
    const told = here.red.log() + JSON.stringify(records);
    for (const secret of secrets) assert.ok(!told.includes(secret), `${secret} was told`);
  });
});
