import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { answerServer } from '../tooling/servers/hostile-servers';
import { fail } from './support/messages';
import { keep, useNodeRed } from './support/node-red';
import { CANARIES } from './support/secrets';
import { until } from '../tooling/until';

// The check itself runs after every test of every file: see `closeJournal`.

const chipid = '10000001';

describe('a service whose answers contain a key in place of another value', () => {
  useNodeRed();
  const secret = `${CANARIES.appkey}\n${CANARIES.serverPassword}`;

  it('reveals it in no error, status or log', async () => {
    const { baseUrl } = await keep(answerServer([{ id: secret, body: '{', chipid: secret }]));
    await load([
      cloudApp({ baseUrl, appid: '10001' }),
      node('history', { datatype: 'json' }),
      node('history', { id: 'incremental', incremental: true, datatype: 'json' }),
      node('listen', { devices: 'online' }),
      node('events', { start: 'current' }),
    ]);
    await fail('history', { chipid }, 'INVALID_RESPONSE');
    await fail('incremental', { chipid }, 'INVALID_RESPONSE');
    await until(
      () => journal.logs.some(({ msg }) => /chip number/.test(String(msg))),
      'the list has been read',
    );
  });
});
