import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { NodeMessage } from 'node-red';
import type { DeviceCloudError } from '../../src/errors';
import type { Simulator } from '../../src/simulator';
import { cloudApp, deploy, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, fail, post, send, type Caught } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';
import { until } from '../tooling/until';

describe('a message to an action node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';

  async function start(
    properties: object = {},
    more: Parameters<typeof load>[0] = [],
  ): Promise<void> {
    cloud = await startWith(node('push', properties), node('devices'), ...more);
  }
  /** Everything that was on its way has arrived when a message sent later has. */
  const settle = async (): Promise<void> => {
    const { length } = arrivedAt('completed');
    await call('devices', {});
    await until(() => arrivedAt('completed').length > length, 'the Complete node fires');
  };

  it('that succeeds leads to one output message, one Complete and no Catch', async () => {
    await start();
    await call('push', { chipid, payload: 'x', topic: 't' });
    await settle();
    const of = (sink: 'out' | 'completed') => arrivedAt(sink).filter(({ topic }) => topic === 't');
    assert.equal(of('out').length, 1);
    assert.equal(of('completed').length, 1);
    assert.deepEqual(of('completed')[0]?.payload, { msg: 'OK' });
    assert.deepEqual(arrivedAt('caught'), []);
  });

  it('that fails leads to one Catch, and neither an output message nor a Complete', async () => {
    await start();
    cloud.fail('not-found', { times: 1 });
    const msg = { chipid, payload: 'x', topic: 't', deep: { kept: true } };
    const caught = await fail('push', msg, 'NOT_FOUND');
    await settle();
    assert.equal(arrivedAt('caught').length, 1);
    assert.equal(arrivedAt('completed').length, 1);
    assert.equal(arrivedAt('out').length, 1);
    assert.equal(caught.error.source.id, 'push');
    assert.match(
      caught.error.message,
      /^NOT_FOUND: The service answered 404\. Push to device 10000001 failed: /,
    );
    assert.match(caught.error.message, /"there is no such device"/);
    assert.match(caught.error.stack ?? '', /DeviceCloudError/);
    assert.ok(!('cause' in caught.error));
    assert.equal(caught['statusCode'], 404);
    assert.equal(caught.payload, 'x');
    assert.deepEqual(caught['deep'], { kept: true });
  });

  it('may have keys that are dangerous in JavaScript', async () => {
    await start();
    const text =
      '{"chipid":"10000001","payload":"x","__proto__":{"polluted":1},' +
      '"constructor":{"prototype":{"polluted":2}},"toString":1,"prototype":3}';
    const out = await call('push', JSON.parse(text));
    assert.deepEqual(out.payload, { msg: 'OK' });
    assert.deepEqual(out['constructor'], { prototype: { polluted: 2 } });
    assert.deepEqual(Object.getOwnPropertyDescriptor(out, '__proto__')?.value, { polluted: 1 });
    const bad = { ...JSON.parse(text), chipid: 'x' };
    const caught: Caught = await fail('push', bad, 'INVALID_INPUT');
    assert.deepEqual(caught['constructor'], { prototype: { polluted: 2 } });
    assert.equal(({} as { polluted?: number }).polluted, undefined);
  });

  it('keeps objects that no node can copy unchanged', async () => {
    await start();
    const req = { socket: {} as object };
    req.socket = req;
    const out = await call('push', { chipid, payload: 'x', req, call: () => 7, big: 5n });
    assert.equal(out['req'], req);
    assert.equal((out['call'] as () => number)(), 7);
    assert.equal(out['big'], 5n);
  });

  it('has certainly not been sent if its node is closed before the application is ready', async () => {
    await start();
    const { app } = helper.getNode('app') as unknown as { app: { client: () => Promise<unknown> } };
    app.client = () => new Promise(() => undefined);
    const ended = send('push', { chipid, payload: 'x' });
    await helper.getNode('push')!.close(false);
    const { code, uncertain } = (await ended).error as DeviceCloudError;
    assert.deepEqual([code, uncertain], ['UNREACHABLE', false]);
  });

  it('that cannot be copied ends exactly once, although no node can receive it', async () => {
    await start();
    const stubborn = (msg: NodeMessage): NodeMessage =>
      Object.defineProperty(msg, 'trap', {
        enumerable: true,
        get: () => {
          throw new Error('not to be read');
        },
      });
    const good = await send('push', stubborn({ chipid, payload: 'x' }));
    assert.equal(good.error, undefined);
    const bad = await send('push', stubborn({ chipid: 'x', payload: 'x' }));
    assert.equal((bad.error as { code?: string }).code, 'INVALID_INPUT');
    await settle();
    assert.equal(cloud.device(chipid).received.length, 1);
  });

  it('that is frozen goes on as a copy once the device has acted', async () => {
    await start({ many: true });
    const odd = (fields: object): NodeMessage =>
      Object.freeze({ payload: 'x', topic: 't', ...fields });
    const one = await call('push', odd({ chipid, statusCode: 500, _msgid: 'one' }));
    assert.deepEqual(
      [one.payload, one['statusCode'], one.topic],
      [[{ chipid, ok: true, payload: { msg: 'OK' }, statusCode: 200 }], undefined, 't'],
    );
    const many = await call('push', odd({ chipid: [chipid], _msgid: 'many' }));
    assert.deepEqual(many['failed'], []);
    assert.equal(cloud.device(chipid).received.length, 2);
  });

  it('that is frozen is answered by request, latest, and a listener that messages control', async () => {
    await start({}, [
      node('request', { match: 'next' }),
      node('latest'),
      node('listen', { devices: 'dynamic' }),
    ]);
    const odd = (fields: object): NodeMessage => Object.freeze({ payload: 'x', chipid, ...fields });
    const stale = { answer: 1, replayed: true, uncertain: true, truncated: true };
    const replied = call('request', odd({ ...stale, _msgid: 'request' }));
    await until(() => cloud.device(chipid).received.length === 1, 'the push has arrived');
    cloud.upload(chipid, 'reply');
    const { payload, answer, replayed, uncertain } = await replied;
    assert.deepEqual(
      [payload, answer, replayed, uncertain],
      ['reply', { msg: 'OK' }, undefined, undefined],
    );
    const latest = await call('latest', odd({ ...stale, _msgid: 'latest' }));
    assert.deepEqual([latest.payload, latest['truncated']], ['reply', undefined]);
    await call('listen', odd({ action: 'list', _msgid: 'listen' }));
  });

  it('that is frozen ends exactly once, with the error of the call', async () => {
    await start({ many: true });
    const odd = (fields: object): NodeMessage =>
      Object.freeze({ payload: 'x', _msgid: 'a', ...fields });
    const endings = [await send('push', odd({ chipid: 'x' }))];
    const heal = cloud.fail('not-found');
    endings.push(await send('push', odd({ chipid, statusCode: 200 })));
    heal();
    for (const { error } of endings) assert.ok(error instanceof Error);
    const codes = endings.map(({ error }) => (error as { code?: string }).code);
    assert.deepEqual(codes, ['INVALID_INPUT', 'NOT_FOUND']);
    cloud.fail('hang');
    const last = odd({ chipid });
    post('push', last);
    await until(() => cloud.requests.length === 2, 'the last is under way');
    await deploy([cloudApp(cloud)]);
    const ended = journal.endings.filter(({ msg }) => msg === last);
    assert.deepEqual(
      ended.map(({ error }) => (error as { code?: string }).code),
      ['CONNECTION_LOST'],
    );
  });
});
