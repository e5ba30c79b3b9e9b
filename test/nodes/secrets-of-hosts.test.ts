import { LOOPBACK } from '../tooling/servers/certs';
import {
  answerServer,
  echoServer,
  redirectServer,
  type HostileServer,
} from '../tooling/servers/hostile-servers';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { fail, logged, send } from './support/messages';
import { keep, useNodeRed } from './support/node-red';
import { ask } from './support/routes';
import { CANARIES } from './support/secrets';
import { until } from '../tooling/until';

// The check itself runs after every test of every file: see `closeJournal`.

const known = Object.values(CANARIES);
const HOSTS: Record<string, () => Promise<HostileServer>> = {
  'refuses and repeats them': () => echoServer(400, known),
  'fails and repeats them': () => echoServer(502, known),
  'sends each request on': redirectServer,
  'has a certificate that nobody trusts': () => answerServer([], LOOPBACK),
};
const MESSAGE = { chipid: '10000001', payload: 'x', page: 1, count: 1 };
const ACTIONS = {
  push: node('push', { timeout: '1' }),
  channel: node('push', { id: 'channel', transport: 'channel', timeout: '1' }),
  devices: node('devices'),
  server: node('server'),
  history: node('history', { datatype: 'json' }),
  incremental: node('history', { id: 'incremental', datatype: 'json', incremental: true }),
  request: node('request', { match: 'next', timeout: '1', replyTimeout: '1' }),
};
const typed = { appkey: CANARIES.appkey, serverPassword: CANARIES.serverPassword };

describe('the keys of an application', () => {
  useNodeRed();

  for (const [what, start] of Object.entries(HOSTS)) {
    it(`appear nowhere if the host ${what}`, async () => {
      const { baseUrl } = await keep(start());
      await load([
        cloudApp({ baseUrl, appid: '10001' }, { timeout: '1' }),
        ...Object.values(ACTIONS),
        node('listen', { chipids: [MESSAGE.chipid] }),
        node('listen', { id: 'online', devices: 'online' }),
        node('events', { start: 'current' }),
      ]);
      await Promise.all(Object.keys(ACTIONS).map((id) => send(id, { ...MESSAGE })));
      await until(
        () => journal.statuses.some(({ id }) => id === 'listen'),
        'the listener has shown something',
      );
      for (const credentials of [undefined, typed]) {
        const settings = { id: 'app', baseUrl, appid: '10001', credentials };
        await ask('apps/test', { body: settings });
      }
    });
  }

  it('are in no error, status or log if the host has them in place of other values', async () => {
    const secret = `${CANARIES.appkey}\n${CANARIES.serverPassword}`;
    const { baseUrl } = await keep(answerServer([{ id: secret, body: '{', chipid: secret }]));
    const { history, incremental } = ACTIONS;
    await load([
      cloudApp({ baseUrl, appid: '10001' }),
      history,
      incremental,
      node('listen', { devices: 'online' }),
      node('events', { start: 'current' }),
    ]);
    await fail('history', MESSAGE, 'INVALID_RESPONSE');
    await fail('incremental', MESSAGE, 'INVALID_RESPONSE');
    await until(() => logged(/chip number/).length > 0, 'the list has been read');
  });
});
