import assert from 'node:assert/strict';
import { openGet, openPost, openUrl, send, withSimulator } from './client';

const KEY = 'MixedCaseKey';

describe('simulator: signature of the open API', () => {
  it(
    'answers 401 to a wrong key, a key in lower case, a wrong method, an uppercase or short sign',
    withSimulator({ appkey: KEY }, async (simulator) => {
      const bad = [{ appkey: 'another' }, { appkey: KEY.toLowerCase() }, { sign: 'abc' }];
      for (const call of bad) {
        const { status, text } = await openGet(simulator, 'apps/', call);
        assert.equal(status, 401, JSON.stringify(call));
        assert.match(text, /^\{"msg":"/);
      }
      const url = openUrl(simulator, 'get', 'apps/');
      const upper = url.replace(/sign=\w+/, (sign) => `sign=${sign.slice(5).toUpperCase()}`);
      assert.equal((await send(simulator, upper)).status, 401);
      assert.equal((await send(simulator, openUrl(simulator, 'post', 'apps/'))).status, 401);
    }),
  );

  it(
    'answers 401 when a parameter was added, changed or moved after signing',
    withSimulator({}, async (simulator) => {
      const url = openUrl(simulator, 'get', 'apps/');
      assert.equal((await send(simulator, `${url}&extra=1`)).status, 401);
      assert.equal((await send(simulator, url.replace(/timestamp=\d/, 'timestamp=9'))).status, 401);
      assert.equal((await send(simulator, url)).status, 200);
    }),
  );

  it(
    'answers 400 when a common parameter is missing, no integer or doubled',
    withSimulator({}, async (simulator) => {
      const url = openUrl(simulator, 'get', 'apps/');
      for (const name of ['appid', 'timestamp', 'sign']) {
        const without = url.replace(new RegExp(`${name}=\\w+&?`), '');
        const { status, text } = await send(simulator, without);
        assert.equal(status, 400, name);
        assert.match(text, new RegExp(`parameter ${name} is missing`));
      }
      assert.equal((await openGet(simulator, 'apps/', { timestamp: 'now' })).status, 400);
      assert.equal((await openGet(simulator, 'apps/', { appid: 'ten' })).status, 400);
      assert.equal((await send(simulator, `${url}&appid=10001`)).status, 400);
      // Only the channel has milliseconds.
      assert.equal((await openGet(simulator, 'apps/', { timestamp: '1700000000000' })).status, 400);
    }),
  );

  it(
    'answers 301 with the address to a path without the final slash, before it looks at the sign',
    withSimulator({}, async (simulator) => {
      for (const path of ['apps', 'gpio_status/1']) {
        const { status, headers } = await send(simulator, `/openapi/${path}?a=1&b=2`);
        assert.equal(status, 301, path);
        assert.equal(headers.get('location'), `/openapi/${path}/?a=1&b=2`);
      }
    }),
  );

  it(
    'answers 404 to unknown paths and 400 to a wrong method',
    withSimulator({}, async (simulator) => {
      for (const path of ['/', '/openapi/nothing/', '/api/server/']) {
        assert.equal((await send(simulator, path)).status, 404, path);
      }
      assert.equal((await openPost(simulator, 'apps/')).status, 400);
      assert.equal((await openGet(simulator, 'reboot/dev/10000001/')).status, 400);
    }),
  );
});
