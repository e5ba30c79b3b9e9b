import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { until } from '../tooling/until';
import { openWithRecovery } from './support/listening';
import { cloudApp, deploy, load, node } from './support/flow';
import { learnForm, trimmed } from './support/histories';
import { arrivedAt, call, fail, post, send, shows, statusesOf } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';

describe('the request node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const byId = { match: 'property', property: 'id', equals: 'payload.id', equalsType: 'msg' };

  async function start(properties: object, ...more: Parameters<typeof load>[0]): Promise<void> {
    cloud = await startWith(node('request', properties), ...more);
  }
  const pushed = (count = 1): Promise<void> =>
    until(() => cloud.device(chipid).received.length >= count, `${count} pushes`);

  it('emits the reply, with the answer to the push', async () => {
    await start(byId);
    const msg = { chipid, payload: { id: 7 }, topic: 't' };
    const stale = { answer: 1, replayed: true, altered: true, uncertain: true, statusCode: 500 };
    const replied = call('request', { ...msg, ...stale });
    await shows('request', 'status.awaiting-reply');
    const payload = { id: 7, value: -41 };
    cloud.upload(chipid, payload);
    const { _msgid, elapsed, timestamp, ...out } = await replied;
    assert.ok(_msgid && Number(elapsed) >= 0 && Number(timestamp) > 1e12);
    assert.deepEqual(out, { chipid, topic: 't', payload, answer: { msg: 'OK' }, statusCode: 200 });
    assert.deepEqual(
      statusesOf('request').map(({ text }) => text),
      ['status.calling', 'status.awaiting-reply', undefined],
    );
  });

  it('asks several devices, some at a time: each has its reply or its error', async () => {
    await start({ ...byId, many: true, atOnce: '1', replyTimeout: '1' });
    const [ONE, TWO, THREE] = ['10000001', '10000002', '10000003'];
    cloud.fail('not-found', { chipid: TWO });
    const asked = call('request', { chipid: [ONE, TWO, THREE], payload: { id: 7 } });
    await until(() => cloud.device(ONE).received.length === 1, 'the first is asked');
    assert.equal(cloud.channels(THREE), 0, 'the last is not asked yet');
    cloud.upload(ONE, { id: 7, value: 1 });
    const { payload, failed, uncertain } = await asked;
    const [one, two, three] = payload as Record<string, unknown>[];
    const { elapsed, timestamp, ...rest } = one!;
    assert.ok(Number(elapsed) >= 0 && Number(timestamp) > 1e12);
    assert.deepEqual(rest, {
      ...{ chipid: ONE, ok: true, payload: { id: 7, value: 1 } },
      ...{ answer: { msg: 'OK' }, statusCode: 200 },
    });
    const codes = [two, three].map((each) => (each!['error'] as { code: string }).code);
    assert.deepEqual(codes, ['NOT_FOUND', 'NO_REPLY']);
    assert.deepEqual([failed, uncertain], [[TWO], [THREE]]);
    const silent = await fail('request', { chipid: [THREE], payload: { id: 8 } }, 'NO_REPLY');
    assert.deepEqual(silent['uncertain'], [THREE]);
  });

  const matching: [what: string, properties: object, passedOver: unknown, reply: unknown][] = [
    ['a property equal to a number', { property: 'a[0]', equals: '1', equalsType: 'num' }, { a: ['1'] }, { a: [1] }], // prettier-ignore
    ['a property equal to JSON', { property: 'a', equals: '{"b":[1]}', equalsType: 'json' }, { a: { b: [2] } }, { a: { b: [1] } }], // prettier-ignore
    ['a pattern', { match: 'pattern', pattern: '^OK\\b' }, 'NOT OK', 'OK 1'],
    ['a byte', { property: '[0]', equals: '6', equalsType: 'num', datatype: 'buffer' }, Buffer.from([0]), Buffer.from([6, 7])], // prettier-ignore
  ];
  for (const [what, properties, passedOver, reply] of matching) {
    it(`waits for the upload with ${what}`, async () => {
      await start(properties);
      const msg = { chipid, payload: { n: 5 } };
      const out = call('request', msg);
      await pushed();
      cloud.upload(chipid, passedOver);
      cloud.upload(chipid, reply);
      assert.deepEqual((await out).payload, reply);
    });
  }

  it('accepts any upload if configured', async () => {
    await start({ match: 'next', format: 'HEX', message: '00 ff', messageType: 'str' });
    const out = call('request', { chipid });
    await pushed();
    cloud.upload(chipid, 'anything');
    assert.equal((await out).payload, 'anything');
    assert.deepEqual(cloud.device(chipid).received[0]?.bytes, Buffer.from([0, 255]));
  });

  it('marks a reply that was recovered, and one to a push with an unknown outcome', async () => {
    cloud = await startCloud();
    await openWithRecovery(cloud, [chipid], {}, node('request', byId));
    const recovered = call('request', { chipid, payload: { id: 1 } });
    await shows('request', 'status.awaiting-reply');
    const lift = cloud.fail('answer-upgrade');
    cloud.disconnect(chipid);
    await until(() => cloud.channels() === 0);
    cloud.upload(chipid, { id: 1 });
    lift();
    assert.equal((await recovered)['replayed'], true);
    cloud.fail('gateway', { path: 'dev/push', acts: true, times: 1 });
    const uncertain = call('request', { chipid, payload: { id: 2 } });
    await pushed(2);
    cloud.upload(chipid, { id: 2 });
    const { answer, statusCode, ...out } = await uncertain;
    assert.deepEqual([answer, statusCode, out['uncertain']], [undefined, 502, true]);
    await until(() => arrivedAt('out').filter(({ topic }) => topic === chipid).length === 2);
  });

  it('marks a reply from a history that does not keep what was uploaded', async () => {
    cloud = await startCloud();
    cloud.rewriteHistory(trimmed);
    await openWithRecovery(cloud, [chipid], {}, node('request', byId));
    await learnForm(cloud, chipid);
    const recovered = call('request', { chipid, payload: { id: 1 } });
    await shows('request', 'status.awaiting-reply');
    cloud.disconnect(chipid);
    cloud.upload(chipid, '{"id":1}\r\n');
    const { replayed, altered } = await recovered;
    assert.deepEqual({ replayed, altered }, { replayed: true, altered: true });
  });

  it('fails with NO_REPLY, with the error of the push, or with INVALID_INPUT', async () => {
    await start({ ...byId, replyTimeout: '0.2' });
    await fail('request', { chipid, payload: { id: 1 } }, 'NO_REPLY');
    cloud.fail('not-found', { times: 1 });
    await fail('request', { chipid, payload: { id: 1 } }, 'NOT_FOUND');
    await fail('request', { chipid, payload: {} }, 'INVALID_INPUT');
    await fail('request', { chipid: '../x', payload: { id: 1 } }, 'INVALID_INPUT');
    assert.equal(cloud.device(chipid).received.length, 1);
  });

  it('ends each message with one error when it is closed, and leaves nothing behind', async () => {
    await start(byId, node('devices'));
    const waiting = { chipid, payload: { id: 1 } };
    post('request', waiting);
    await shows('request', 'status.awaiting-reply');
    const ending = send('request', { chipid: '10000002', payload: { id: 2 } });
    const isAnswered = ({ method, status }: { method: string; status: number }): boolean =>
      method === 'POST' && status === 200;
    await until(() => cloud.requests.filter(isAnswered).length === 2);
    // Its answer came later than those of the pushes.
    await call('devices', {});
    await deploy([cloudApp(cloud), node('devices')]);
    assert.match(
      String((await ending).error),
      /The reply is no longer awaited: the node was closed\. .* was sent and accepted/,
    );
    await call('devices', {});
  });
});
