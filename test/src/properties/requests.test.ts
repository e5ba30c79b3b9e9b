import assert from 'node:assert/strict';
import fc from 'fast-check';
import type { DeviceCloudClient } from '../../../src/client';
import { isDeviceCloudError } from '../../../src/errors';
import { clientOf, KEYS } from '../support/client';
import { anyText, goodText, holds } from '../support/fuzz';
import {
  httpService,
  json,
  type HttpService,
  type Received,
} from '../../tooling/servers/http-service';
import { anything } from '../support/typed';
import { openSignature, signServerByHand, utf8 } from '../../tooling/sign-by-hand';

/** Percent-decoding by hand, of a query or a form: `+` is not a space in either, since the client never writes one. */
function pairsOf(encoded: string): [name: string, value: string][] {
  const decode = (text: string): string => {
    const bytes: number[] = [];
    for (let at = 0; at < text.length; at++) {
      if (text[at] === '%') bytes.push(parseInt(text.slice(at + 1, (at += 2) + 1), 16));
      else bytes.push(text.charCodeAt(at));
    }
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(
      Uint8Array.from(bytes),
    );
  };
  return encoded
    .split('&')
    .filter((pair) => pair !== '')
    .map((pair) => {
      const equals = pair.indexOf('=');
      return [decode(pair.slice(0, equals)), decode(pair.slice(equals + 1))];
    });
}

/** What of a path and a query needs no encoding (RFC 3986). */
const PATH = /^\/(openapi|api\/server)\/[A-Za-z0-9._~/-]*$/;
const ENCODED = /^[A-Za-z0-9._~!*'()&=-]*(%[0-9A-F]{2}[A-Za-z0-9._~!*'()&=-]*)*$/;

/** Whether UTF-8 carries a text, and so a request does. */
const isCarried = (text: string): boolean => utf8(text).toString('utf8') === text;

describe('a request with any content', () => {
  let service: HttpService;
  let client: DeviceCloudClient;

  /** Makes a call on one connection alone: a bad one that cost it would leave none. */
  const called = async (
    call: () => Promise<unknown>,
    requests = 1,
  ): Promise<Received | undefined> => {
    service.requests.length = 0;
    try {
      await call();
    } catch (error) {
      assert.ok(isDeviceCloudError(error, 'INVALID_INPUT'), String(error));
      assert.equal(service.requests.length, 0);
      return undefined;
    }
    assert.equal(service.requests.length, requests);
    return service.requests[0];
  };
  beforeEach(async () => {
    service = await httpService((response, request, count) => {
      const answer = request.path.includes('/sync/') ? [] : { msg: 'OK', result: '' };
      json(answer)(response, request, count);
    });
    client = clientOf(service.baseUrl);
  });

  /** Reads what came without any of the client's code, and checks its signature. */
  const paramsOf = ({ method, path, search, body }: Received): Map<string, string> => {
    assert.match(path, PATH);
    for (const part of [search, body]) assert.match(part, ENCODED);
    const pairs = [...pairsOf(search), ...pairsOf(body)];
    const params = new Map(pairs);
    assert.equal(params.size, pairs.length, 'a parameter comes twice');
    assert.equal(params.get('sign'), openSignature(method, pairs, KEYS.appkey));
    return params;
  };

  holds(
    'delivers the exact text of a push, signed as the service reads it',
    60,
    fc.asyncProperty(anyText, async (message) => {
      const received = await called(() => client.push('1', message));
      assert.equal(received !== undefined, isCarried(message));
      if (!received) return;
      const params = paramsOf(received);
      assert.equal(params.get('message'), message);
      assert.equal(params.get('format'), 'MSG');
      assert.equal(params.get('devid'), '1');
    }),
  );

  holds(
    'delivers the exact key of a callback, signed as the service reads it',
    60,
    fc.asyncProperty(anyText, async (key) => {
      const received = await called(() => client.rtStatus('1', key));
      assert.equal(received !== undefined, isCarried(key) && key !== '');
      if (received) assert.equal(paramsOf(received).get('key'), key);
    }),
  );

  holds(
    'of the server API delivers its exact query, signed without it',
    60,
    fc.asyncProperty(
      fc.dictionary(goodText, fc.oneof(anyText, fc.boolean(), fc.integer())),
      async (query) => {
        const received = await called(() => client.serverUploads(query));
        const values = Object.values(query);
        assert.equal(
          received !== undefined,
          // The uploads need pagination.
          values.length > 0 && values.every((value) => isCarried(String(value))),
        );
        if (!received) return;
        assert.match(received.search, ENCODED);
        const expected = Object.entries(query).map(([name, value]) => [name, String(value)]);
        assert.deepEqual(pairsOf(received.search), expected);
        const { timestamp = '', sign } = received.headers as Record<string, string>;
        const { serverKey, serverPassword } = KEYS;
        const path = '/api/server/up/messages';
        assert.equal(sign, signServerByHand('GET', path, serverKey, timestamp, serverPassword));
      },
    ),
  );

  holds(
    'is sent with valid values or not at all, whatever the arguments',
    100,
    fc.asyncProperty(anything, anything, anyText, async (first, second, words) => {
      // The types would refuse most of them: who has none of them is meant here.
      const [one, other] = [first as never, second as never];
      const calls = [
        () => client.push(one, other),
        () => client.push('1', other, { format: words as never }),
        () => client.setGpioEdge('1', one, other),
        () => client.rtStatus(one, words),
        () => client.serverDevice(words),
        () => client.serverUpdate('a', one),
        () => client.serverDevices(other),
      ];
      for (const call of calls) {
        const received = await called(call);
        if (received) assert.match(received.path, PATH);
      }
      // The end day is requested once more.
      const received = await called(() => client.appHistory(one, other), 2);
      if (received) assert.match(received.path, PATH);
    }),
  );
});
