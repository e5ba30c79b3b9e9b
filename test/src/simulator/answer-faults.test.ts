import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { FAULT_NAMES, OptionError, type FaultName } from '../../../src/simulator';
import { openGet, openUrl, push, send, withSimulator } from './client';
import { until } from '../../../tooling/until';

const DEVICE = '10000001';

describe('simulator: faults of answers', () => {
  const statuses: [FaultName, number][] = [
    ['bad-request', 400],
    ['unauthorized', 401],
    ['forbidden', 403],
    ['not-found', 404],
    ['redirect', 302],
    ['too-many', 429],
    ['server-error', 500],
    ['gateway', 502],
    ['unavailable', 503],
    ['gateway-timeout', 504],
    ['odd-status', 299],
  ];
  for (const [name, status] of statuses) {
    it(
      `${name} answers ${status} with a msg`,
      withSimulator({}, async (simulator) => {
        simulator.fail(name, { times: 1 });
        const reply = await openGet(simulator, 'apps/');
        assert.equal(reply.status, status);
        assert.equal(typeof (reply.body as { msg: unknown }).msg, 'string');
        assert.equal((await openGet(simulator, 'apps/')).status, 200);
      }),
    );
  }

  const bodies: [FaultName, number, string | RegExp][] = [
    ['server-error-bare', 500, ''],
    ['empty', 200, ''],
    ['html', 200, /^<!doctype html>/],
    ['null', 200, 'null'],
    ['array', 200, '["OK"]'],
    ['object', 200, '{"msg":"OK"}'],
    ['broken-json', 200, '[{"msg":"OK"'],
  ];
  for (const [name, status, text] of bodies) {
    it(
      `${name} answers with an unexpected body`,
      withSimulator({}, async (simulator) => {
        simulator.fail(name);
        const reply = await openGet(simulator, 'devices/list/');
        assert.equal(reply.status, status);
        if (typeof text === 'string') assert.equal(reply.text, text);
        else assert.match(reply.text, text);
      }),
    );
  }

  for (const name of ['truncated', 'reset-in-body'] as const) {
    it(
      `${name} ends the connection after the head and a part of the body`,
      withSimulator({}, async (simulator) => {
        simulator.fail(name, { times: 1 });
        const response = await fetch(simulator.baseUrl + openUrl(simulator, 'get', 'apps/'));
        assert.equal(response.status, 200);
        await assert.rejects(response.text(), TypeError);
        assert.equal((await openGet(simulator, 'apps/')).status, 200);
      }),
    );
  }

  it(
    'reset ends the connection before the answer',
    withSimulator({}, async (simulator) => {
      simulator.fail('reset', { times: 1 });
      await assert.rejects(openGet(simulator, 'apps/'), (error: Error) => {
        assert.equal((error.cause as NodeJS.ErrnoException).code, 'ECONNRESET');
        return true;
      });
      assert.equal((await openGet(simulator, 'apps/')).status, 200);
    }),
  );

  /** With how many bytes a head begins, and goes on. */
  const begun = { hang: 0, 'slow-headers': 'HTTP/1.1 200 OK\r\nx-slow: ...'.length };
  for (const [name, bytes] of Object.entries(begun) as [FaultName, number][]) {
    it(
      `${name} sends no head, and ends with the client`,
      withSimulator({}, async (simulator) => {
        simulator.fail(name, { times: 1 });
        // Not fetch, which connects anew when a call is aborted.
        const request = httpRequest(`${simulator.baseUrl}/openapi/apps/`).end();
        let answered = false;
        request.on('response', () => (answered = true)).on('error', () => undefined);
        await until(() => simulator.requests.length === 1);
        // One that comes later has its answer.
        const later = { headers: { connection: 'close' } };
        const { status } = await send(simulator, openUrl(simulator, 'get', 'apps/'), later);
        assert.equal(status, 200);
        const read = (): number => request.socket?.bytesRead ?? 0;
        await until(() => read() >= bytes, 'the head goes on');
        assert.equal(read() > 0, bytes > 0);
        request.destroy();
        assert.equal(answered, false);
        await until(() => simulator.sockets() === 0);
      }),
    );
  }

  it(
    'trickle drips a body without an end',
    withSimulator({}, async (simulator) => {
      simulator.fail('trickle');
      const controller = new AbortController();
      const { signal } = controller;
      const response = await fetch(`${simulator.baseUrl}/openapi/apps/`, { signal });
      let bytes = 0;
      await assert.rejects(
        async () => {
          for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
            bytes += piece.length;
            if (bytes > 3) controller.abort();
          }
        },
        { name: 'AbortError' },
      );
    }),
  );

  it(
    'huge answers with more than 64 MiB of JSON',
    withSimulator({}, async (simulator) => {
      simulator.fail('huge');
      const response = await fetch(`${simulator.baseUrl}/openapi/apps/`);
      assert.deepEqual(JSON.parse(await response.text()), []);
      assert.ok(Number(response.headers.get('content-length')) > 64 * 1024 * 1024);
    }),
  );

  it(
    'gzip answers with a bomb that was not requested',
    withSimulator({}, async (simulator) => {
      simulator.fail('gzip');
      const request = httpRequest(`${simulator.baseUrl}/openapi/apps/`).end();
      const [response] = (await once(request, 'response')) as [
        NodeJS.ReadableStream & { headers: Record<string, string> },
      ];
      assert.equal(response.headers['content-encoding'], 'gzip');
      let size = 0;
      for await (const chunk of response) size += chunk.length;
      assert.ok(size > 0 && size < 1024 * 1024, `${size} bytes`);
    }),
  );

  it(
    'drop-after-answer answers correctly and then drops the kept-alive connection',
    withSimulator({}, async (simulator) => {
      simulator.fail('drop-after-answer', { times: 1 });
      const reply = await openGet(simulator, 'apps/');
      assert.deepEqual([reply.status, reply.headers.get('connection')], [200, 'keep-alive']);
      await until(() => simulator.sockets() === 0);
    }),
  );

  it(
    'affect only the device, the path and the number of requests that were named',
    withSimulator({}, async (simulator) => {
      simulator.fail('gateway', { times: 1, chipid: 10000002, path: 'dev/push' });
      assert.equal((await push(simulator, DEVICE, 'x')).status, 200);
      assert.equal((await openGet(simulator, 'gpio_status/10000002/')).status, 200);
      assert.equal((await push(simulator, '10000002', 'x')).status, 502);
      assert.equal((await push(simulator, '10000002', 'x')).status, 200);
    }),
  );

  it(
    'leave the device alone, unless it is to act before the answer goes wrong',
    withSimulator({}, async (simulator) => {
      simulator.fail('gateway', { times: 1 });
      await push(simulator, DEVICE, 'never seen');
      simulator.fail('reset', { times: 1, acts: true });
      await assert.rejects(push(simulator, DEVICE, 'seen'), TypeError);
      assert.deepEqual(
        simulator.device(DEVICE).received.map(({ text }) => text),
        ['seen'],
      );
    }),
  );

  it(
    'can be lifted one by one or all at once',
    withSimulator({}, async (simulator) => {
      const status = async () => (await send(simulator, openUrl(simulator, 'get', 'apps/'))).status;
      const lift = simulator.fail('gateway');
      simulator.fail('server-error');
      assert.equal(await status(), 502);
      lift();
      assert.equal(await status(), 500);
      simulator.heal();
      assert.equal(await status(), 200);
    }),
  );

  it(
    'have names and limits: an unknown one is an error that lists them',
    withSimulator({}, (simulator) => {
      assert.throws(() => simulator.fail('flood' as FaultName), /no fault flood.*gateway, /);
      for (const options of [{ times: NaN }, { times: -1 }, { times: 1.5 }, { chipid: 'x' }]) {
        assert.throws(() => simulator.fail('gateway', options), OptionError);
      }
      for (let set = 0; set < 1000; set++) simulator.fail('gateway');
      assert.throws(() => simulator.fail('gateway'), /^OptionError: faults must be at most 1000/);
      simulator.heal();
      simulator.fail('gateway', { times: 0 });
      assert.equal(new Set(FAULT_NAMES).size, FAULT_NAMES.length);
      return Promise.resolve();
    }),
  );
});
