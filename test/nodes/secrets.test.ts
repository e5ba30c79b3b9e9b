import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { ErrorCode } from '../../src/errors';
import { LOOPBACK } from '../../tooling/servers/certs';
import { cloudApp, load, node } from './support/flow';
import { journal } from './support/journal';
import { answerServer, echoServer, redirectServer } from '../../tooling/servers/hostile-servers';
import { fail, send, shows } from './support/messages';
import { keep, startCloud, useNodeRed } from './support/node-red';
import { CANARIES, TYPED_CANARIES } from './support/secrets';
import { until } from '../../tooling/until';

// The check itself runs after every test of every file: see `closeJournal`.

const chipid = '10000001';

describe('a service that repeats everything that it was sent and that it knows', () => {
  useNodeRed();

  for (const status of [301, 400, 401, 403, 404, 429, 500, 502, 504]) {
    it(`with status ${status} lets no secret appear in an error, a status or the log`, async () => {
      const { baseUrl } = await keep(echoServer(status, Object.values(CANARIES)));
      await load([
        cloudApp({ baseUrl, appid: '10001' }),
        node('push'),
        node('devices'),
        node('server'),
        node('listen', { chipids: [chipid] }),
        node('events'),
        node('history'),
        node('gpio', {
          operation: 'pulse',
          level: '1',
          levelType: 'num',
          pin: '1',
          pinType: 'num',
        }),
      ]);
      for (const id of ['push', 'devices', 'server', 'history', 'gpio']) {
        const { error } = await send(id, { chipid, payload: 'x' });
        assert.match(String(error), /you sent/);
      }
      await shows(
        'listen',
        status === 401 || status === 403 ? 'status.unauthorized' : 'status.disconnected',
      );
    });
  }
});

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

describe('what the editor receives', () => {
  useNodeRed();

  const ask = async (path: string, settings?: object): Promise<string> => {
    const { text } = settings
      ? await helper.request().post(path).send(settings)
      : await helper.request().get(path);
    journal.answers.push(text);
    return text;
  };

  it('has no key in it, right or wrong, stored or typed', async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('push')]);
    const { baseUrl, appid } = cloud;
    const list = await ask('/device-cloud/apps/app/devices');
    assert.match(list, /10000001/);
    assert.doesNotMatch(list, /devkey/);
    const stored = await ask('/device-cloud/apps/test', { id: 'app', baseUrl, appid });
    assert.match(stored, /"ok":true/);
    const typed = { id: 'app', baseUrl, appid, credentials: { ...TYPED_CANARIES } };
    assert.match(await ask('/device-cloud/apps/test', typed), /UNAUTHORIZED/);
    assert.equal(journal.logs.filter(({ level }) => level === 98).length, 2);
  });

  const HOSTS: [what: string, start: () => Promise<{ baseUrl: string }>, code: ErrorCode][] = [
    ['repeats what was sent', () => keep(echoServer(400, [])), 'BAD_REQUEST'],
    ['redirects', () => keep(redirectServer()), 'REDIRECT'],
    ['nobody trusts', () => keep(answerServer([], LOOPBACK)), 'UNREACHABLE'],
    ['nobody listens on', () => Promise.resolve({ baseUrl: 'http://127.0.0.1:1' }), 'UNREACHABLE'],
    ['does not exist', () => Promise.resolve({ baseUrl: 'http://nowhere.invalid' }), 'UNREACHABLE'],
  ];
  for (const [what, start, code] of HOSTS) {
    it(`has no key and no signature in it if the host is one that ${what}`, async () => {
      const { baseUrl } = await start();
      await load([cloudApp({ baseUrl, appid: '10001' }), node('push')]);
      assert.match(await ask('/device-cloud/apps/app/devices'), new RegExp(code));
      const settings = { id: 'app', baseUrl, appid: '10001' };
      assert.match(await ask('/device-cloud/apps/test', settings), new RegExp(code));
      const typed = { ...settings, credentials: { ...TYPED_CANARIES } };
      assert.match(await ask('/device-cloud/apps/test', typed), new RegExp(code));
      await fail('push', { chipid, payload: 'x' }, code);
    });
  }
});
