import assert from 'node:assert/strict';
import { load } from '../support/flow';
import { startCloud, useNodeRed } from '../support/node-red';
import { ask, audited, type Answered, type Refusal } from '../support/routes';
import { CANARIES } from '../support/secrets';

const post = (body: string, type = 'application/json'): Promise<Answered<Partial<Refusal>>> =>
  ask('apps/test', { body, headers: { 'content-type': type } });

const { appkey } = CANARIES;

describe('a request for a test that the editor would not send', () => {
  useNodeRed();

  const ODD: [what: string, body: unknown, says: RegExp][] = [
    ['an array', [], /JSON object/],
    ['an address that is no text', { baseUrl: ['http://127.0.0.1:1'] }, /baseUrl/],
    ['an appid that is an object', { appid: {} }, /appid/],
    ['another service', { service: 'elsewhere' }, /service.*cloud.*simulator/],
    ['credentials as a text', { credentials: appkey }, /credentials/],
    ['a key in an array', { credentials: { appkey: [appkey] } }, /appkey/],
  ];
  for (const [what, body, says] of ODD) {
    it(`is refused with the reason: ${what}`, async () => {
      const cloud = await startCloud();
      await load([]);
      const usual = { baseUrl: cloud.baseUrl, appid: cloud.appid, credentials: { appkey } };
      const sent = Array.isArray(body) ? body : { ...usual, ...(body as object) };
      const answer = await post(JSON.stringify(sent));
      assert.equal(answer.status, 400, answer.text);
      assert.deepEqual(Object.keys(answer.body), ['error']);
      assert.equal(answer.body.error?.code, 'INVALID_INPUT');
      assert.match(answer.body.error.message, says);
      assert.ok(!answer.text.includes(appkey));
      assert.equal(cloud.requests.length, 0);
    });
  }

  it('is refused when it comes as text, or has no body', async () => {
    await load([]);
    const { status, body } = await post('service=simulator', 'text/plain');
    assert.equal(status, 400);
    assert.match(body.error?.message ?? '', /JSON object.*application\/json/);
    const nothing = await ask('apps/test', { method: 'post' });
    assert.deepEqual([nothing.status, nothing.body.error.code], [400, 'INVALID_INPUT']);
  });

  it('may have fields that are not settings, which are ignored', async () => {
    await load([]);
    const answer = await post('{"__proto__":{"service":"simulator"},"constructor":1,"else":{}}');
    assert.equal(answer.status, 200, answer.text);
    assert.match(answer.text, /NOT_CONFIGURED/);
  });

  it('is recorded in the audit log as refused, without what was sent', async () => {
    await load([]);
    await post(JSON.stringify({ id: [appkey] }));
    const [noted, ...more] = audited();
    assert.deepEqual(more, []);
    assert.match(JSON.stringify(noted), /device-cloud\.apps\.test.*invalid_input/);
    assert.ok(!JSON.stringify(noted).includes(appkey));
  });
});
