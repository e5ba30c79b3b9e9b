import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { canonicalParams, signOpenApi, signServerApi } from '../../../src/api/signing';
import { anyText, goodText, holds } from '../support/fuzz';
import { openSignature, signServerByHand } from '../../../tooling/sign-by-hand';

const name = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom('appid', 'Timestamp', 'sign', 'SIGN', '__proto__', '') },
  { weight: 3, arbitrary: anyText },
);
// The document does not say how names are ordered that differ only in case.
const params = fc.uniqueArray(fc.tuple(name, anyText), {
  maxLength: 8,
  selector: ([key]) => key.toLowerCase(),
});
const method = fc.constantFrom('GET', 'get', 'POST', 'Put', 'DELETE');

describe('the signatures, compared with a second implementation', () => {
  holds(
    'are those of section 5.2, for any parameters',
    1000,
    // Half a surrogate pair at the end of a value and half a one at the start of a key would be a whole one.
    fc.property(method, params, goodText, (verb, pairs, appkey) => {
      const object = Object.fromEntries(pairs);
      assert.equal(signOpenApi(verb, object, appkey), openSignature(verb, pairs, appkey));
    }),
  );

  holds(
    'do not depend on the order in which parameters are given',
    200,
    fc.property(params, goodText, (pairs, appkey) => {
      const there = signOpenApi('get', Object.fromEntries(pairs), appkey);
      assert.equal(signOpenApi('GET', Object.fromEntries(pairs.toReversed()), appkey), there);
    }),
  );

  holds(
    'are those of section 5.1, for any key and password',
    1000,
    fc.property(
      method,
      anyText,
      anyText,
      fc.nat(),
      anyText,
      (verb, path, key, timestamp, password) => {
        const request = { method: verb, path, key, timestamp };
        const expected = signServerByHand(verb, path, key, String(timestamp), password);
        assert.equal(signServerApi(request, password), expected);
      },
    ),
  );

  it("agree with the document's own examples", () => {
    const text = canonicalParams({ key1: 'v1', key3: 'v3', key2: 'v2' });
    assert.equal(text, 'key3=v3&key2=v2&key1=v1');
    assert.equal(
      canonicalParams({ appid: '<appid>', timestamp: '<timestamp>' }),
      'timestamp=<timestamp>&appid=<appid>',
    );
    const server = 'get/api/server/devices' + 'key=<key>timestamp=<timestamp>' + '<password>';
    const request = {
      method: 'GET',
      path: '/api/server/devices',
      key: '<Key>',
      timestamp: '<Timestamp>',
    };
    const md5 = createHash('md5').update(server).digest('hex');
    assert.equal(signServerApi(request, '<password>'), md5);
  });
});
