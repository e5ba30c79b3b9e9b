import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { ExplainedCall } from '../../../src/explain-call';
import { DeviceCloudClient, isDeviceCloudError, type Explanation } from '../../../src/index';
import { httpService, json, type HttpService } from '../../../tooling/servers/http-service';
import { clientOf, KEYS } from '../support/client';
import { anyText, goodText, holds } from '../support/fuzz';
import { anything } from '../support/typed';

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');
const now = (): number => 1_700_000_000_000;

/** Keys that are not a part of what every request has. */
const secret = fc
  .tuple(anyText, fc.stringMatching(/^[A-Za-z0-9]{8}$/), anyText)
  .map((parts) => parts.join(''))
  .filter((text) => text.isWellFormed());
const serverKey = fc.stringMatching(/^[!-~]{10,16}$/).filter((key) => !/^[a-z/]*$/i.test(key));

/** A call and what it is given, well or badly. */
const call = (value: fc.Arbitrary<unknown>): fc.Arbitrary<[ExplainedCall, ...unknown[]]> =>
  fc.oneof(
    fc.tuple(fc.constantFrom('app', 'devices'), fc.constant(undefined)),
    fc.tuple(fc.constant('push' as const), fc.constant('1'), value),
    fc.tuple(fc.constant('pushToApp' as const), value),
    fc.tuple(fc.constant('rtStatus' as const), fc.constant('1'), value),
    fc.tuple(fc.constant('appHistory' as const), value, value),
    fc.tuple(
      fc.constantFrom('uploadHistory', 'pushHistory', 'gpioStatus', 'refresh', 'reboot'),
      value,
    ),
    fc.tuple(fc.constant('setGpioEdge' as const), value, value, value),
    fc.tuple(fc.constant('serverDevice' as const), value),
    fc.tuple(fc.constantFrom('serverDevices', 'serverUploads'), value),
    fc.tuple(fc.constantFrom('serverUpdate', 'serverPassthrough'), fc.constant('a'), value),
  );

const explained = (client: DeviceCloudClient, [name, ...args]: [ExplainedCall, ...unknown[]]) =>
  (client.explain as (...all: unknown[]) => Explanation).call(client, name, ...args);

describe('the explanation of a call with any arguments', () => {
  holds(
    'contains neither a key nor a sign that could be used',
    300,
    fc.property(secret, serverKey, secret, fc.nat(3), call(goodText), (...all) => {
      const [appkey, key, password, where, [name, ...args]] = all;
      const keys = { appid: '10001', appkey, serverKey: key, serverPassword: password };
      const client = clientOf('https://cloud.example.com', { ...keys, now });
      const secrets = [appkey, key, password];
      // A value that contains a key, as a message or a query might.
      const values = args.map((value) =>
        typeof value === 'string' ? `${value}${secrets[where] ?? ''}` : value,
      );
      let explanation: Explanation;
      try {
        explanation = explained(client, [name, ...values]);
      } catch (error) {
        assert.ok(isDeviceCloudError(error, 'INVALID_INPUT'), String(error));
        return;
      }
      const { method, path, signed, parameters, curl } = explanation;
      const texts = [method, path, signed, curl, ...parameters.flat()];
      for (const text of [...texts, JSON.stringify(explanation)]) {
        for (const each of secrets) {
          assert.ok(!text.toLowerCase().includes(each.toLowerCase()), text);
          assert.ok(!text.includes(encodeURIComponent(each)), text);
        }
        // No sign at all: neither of this timestamp nor of another.
        const given = values.join(' ');
        for (const [hex] of text.matchAll(/[0-9a-f]{32}/g)) assert.ok(given.includes(hex), text);
      }
    }),
  );

  describe('compared with the call itself', () => {
    let service: HttpService;
    let client: DeviceCloudClient;
    beforeEach(async () => {
      service = await httpService((response, request, count) => {
        json(request.path.includes('/openapi/') ? { msg: 'OK', result: '' } : {})(
          response,
          request,
          count,
        );
      });
      client = clientOf(service.baseUrl, { now });
    });

    /** The text of a sign with the keys in their places. */
    const withKeys = (signed: string): string =>
      signed
        .replace(/<APPKEY>$/, () => KEYS.appkey)
        .replace('<SERVER_KEY>', KEYS.serverKey.toLowerCase())
        .replace('<SERVER_PASSWORD>', KEYS.serverPassword.toLowerCase());

    holds(
      'shows the request that is sent, or fails with the same error',
      200,
      fc.asyncProperty(call(fc.oneof(anything, anyText, fc.nat())), async (made) => {
        service.requests.length = 0;
        const [name, ...args] = made;
        let refused: string | undefined;
        await (client[name] as (...all: unknown[]) => Promise<unknown>)
          .call(client, ...args)
          .catch((error: unknown) => {
            assert.ok(isDeviceCloudError(error), String(error));
            if (error.code === 'INVALID_INPUT') refused = error.message;
          });
        if (refused !== undefined) {
          assert.throws(() => explained(client, made), { code: 'INVALID_INPUT', message: refused });
          return;
        }
        const [sent] = service.requests;
        const { method, path, signed, parameters } = explained(client, made);
        assert.equal(method, sent!.method);
        const isServer = name.startsWith('server');
        assert.equal(
          path,
          isServer ? `${sent!.path}${sent!.search && '?'}${sent!.search}` : sent!.path,
        );
        const sign = isServer ? sent!.headers['sign'] : sent!.query.get('sign');
        assert.equal(md5(withKeys(signed)), sign);
        if (isServer) return;
        const received = new Map([...sent!.query, ...new URLSearchParams(sent!.body)]);
        received.delete('sign');
        assert.deepEqual(new Map(parameters), received);
      }),
    );
  });
});
