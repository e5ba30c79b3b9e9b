import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { createApplication, type Application } from '../../../src/application';
import type { ErrorCode } from '../../../src/errors';
import type { StreamHistory } from '../../../src/recovery/reader';
import { AllServiceLimits } from '../../../src/http/service-limiter';
import { CONNECTIONS } from '../../../src/http/pool';
import type { ClientOptions } from '../../../src/settings';
import { atEnd } from '../../tooling/servers/at-end';
import {
  hang,
  httpService,
  inSequence,
  json,
  raw,
  type Script,
} from '../../tooling/servers/http-service';
import { freePort } from '../../tooling/servers/ports';
import { signByHand } from '../../tooling/sign-by-hand';
import { until } from '../../tooling/until';
import { heldTimers, HOUR } from '../../support/held-timers';
import { KEYS } from '../support/client';
import { failure } from '../support/failure';
import { manual } from '../support/manual';
import { gone, resources } from '../support/resources';

const MIB = 1024 * 1024;
const CHIPID = '10000001';

function open(baseUrl: string, options: Partial<ClientOptions> = {}): Application {
  const all = { baseUrl, ...KEYS, proxy: false, random: () => 0, ...options } as const;
  const application = createApplication(all, new AllServiceLimits());
  atEnd(() => application.close());
  return application;
}

const streamer = (baseUrl: string, options?: Partial<ClientOptions>): StreamHistory => {
  const parts = open(baseUrl, options).open;
  assert.ok(parts);
  return parts.streamHistory;
};

const NEVER = new AbortController().signal;
const ignore = (): void => undefined;

/** Reads a history to its end, and returns its records. */
async function all(read: StreamHistory): Promise<unknown[]> {
  const records: unknown[] = [];
  await read(CHIPID, NEVER, (record) => void records.push(record));
  return records;
}

const recordOf = (id: number): object => ({
  ...{ body: `t=21.5;h=${id}`, app: 'greenhouse', create_time: '2026-01-01 00:00:00' },
  ...{ id, dev: CHIPID },
});

const recordsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => recordOf(index));

/** A beginning of more than 48 KiB, after which an answer of a length that is not announced may be ended. */
const LONG = `${JSON.stringify(recordsOf(900)).slice(0, -1)},`;

/** Records without end, as fast as they are taken. */
const endless: Script = (response) => {
  response.writeHead(200);
  const piece = JSON.stringify(recordsOf(500)).slice(1, -1);
  response.write(`[${piece}`);
  const pour = (): void => {
    while (!response.destroyed && response.write(`,${piece}`));
  };
  response.on('drain', pour);
  pour();
};

const reset: Script = (response) => void response.socket?.resetAndDestroy();

/** Writes a beginning, and resets the connection once that has been read. */
const cutAfter =
  (text: string): Script =>
  (response) => {
    response.writeHead(200, { 'content-length': 100_000 });
    response.write(text, () => setImmediate(() => response.socket?.destroy()));
  };

const ended = (response: ServerResponse): Promise<unknown> =>
  new Promise((resolve) => response.on('close', resolve));

/** A turn that notes each end, and for how long others have to wait. */
function turnOf(): { outcomes: unknown[]; turn: Parameters<StreamHistory>[3] } {
  const outcomes: unknown[] = [];
  return { outcomes, turn: (retryAfter) => void outcomes.push(retryAfter) };
}

describe('a history that is read as a stream', () => {
  it('is requested as every call is, and comes record by record', async () => {
    const records = recordsOf(3);
    const service = await httpService(json(records));
    const found: unknown[] = [];
    const read = await streamer(service.baseUrl)(CHIPID, NEVER, (record) => {
      found.push(record);
    });
    assert.deepEqual(found, records);
    const bytes = Buffer.byteLength(JSON.stringify(records));
    assert.deepEqual([read.records, read.bytes, read.isWhole], [3, bytes, true]);
    const [request] = service.requests;
    assert.ok(request);
    assert.equal(request.path, `/openapi/up_messages/dev/${CHIPID}/`);
    const { sign, ...signed } = Object.fromEntries(request.query);
    assert.equal(sign, signByHand('get', signed, KEYS.appkey));
    assert.match(request.headers['user-agent'] ?? '', /device-cloud/);
    assert.equal(request.headers['accept-encoding'], undefined);
  });

  it('may be longer than any other answer', async () => {
    const piece = `${JSON.stringify(recordsOf(10_000)).slice(1, -1)},`;
    const times = Math.ceil((70 * MIB) / piece.length);
    const service = await httpService((response) => {
      let written = 0;
      response.write('[');
      const pour = (): void => {
        while (written < times) {
          written++;
          if (!response.write(piece)) return;
        }
        response.end('{}]');
      };
      response.on('drain', pour);
      pour();
    });
    let count = 0;
    const read = await streamer(service.baseUrl)(CHIPID, NEVER, () => void count++);
    assert.equal(count, times * 10_000 + 1);
    assert.ok(read.bytes > 64 * MIB && read.isWhole);
  });

  it('leaves the event loop its turns: 256 KiB at most are read in one', async () => {
    const body = JSON.stringify(recordsOf(100_000));
    const service = await httpService(raw(body));
    let isOver = false;
    let inTurn = 0;
    let most = 0;
    const turn = (): void => {
      most = Math.max(most, inTurn);
      inTurn = 0;
      if (!isOver) setImmediate(turn);
    };
    turn();
    const read = await streamer(service.baseUrl)(CHIPID, NEVER, () => void inTurn++);
    isOver = true;
    assert.equal(read.records, 100_000);
    const bytes = (most * body.length) / read.records;
    assert.ok(bytes <= 256 * 1024, `${bytes} bytes`);
  });

  describe('whose sink needs no more', () => {
    it('is ended, its connection with it, and frees its place: one more than there are places', async () => {
      const written: number[] = [];
      const service = await httpService((response, request, count) => {
        endless(response, request, count);
        const { socket } = response;
        response.on('close', () => written.push(socket?.bytesWritten ?? NaN));
      });
      const before = resources();
      const application = open(service.baseUrl);
      const read = application.open?.streamHistory;
      assert.ok(read);
      for (let round = 0; round <= CONNECTIONS; round++) {
        let records = 0;
        const some = await read(CHIPID, NEVER, () => ++records < 10);
        assert.equal(some.records, records);
        assert.equal(some.isWhole, false);
        // Its length is not announced, so its first 48 KiB are looked at; the rest of their chunk is read with them.
        assert.ok(
          some.bytes > 48 * 1024 && some.bytes <= 192 * 1024,
          `${some.bytes} bytes were read`,
        );
      }
      await until(() => written.length === CONNECTIONS + 1, 'the service has noticed each end');
      const many = Array.from({ length: 10 }, () => read(CHIPID, NEVER, () => false));
      assert.equal((await Promise.all(many)).length, 10);
      await application.close();
      await until(() => service.sockets() === 0, 'the end of all connections');
      await gone(before);
    });

    it('leaves the connection open if the rest is short', async () => {
      heldTimers(1000);
      const service = await httpService(raw(JSON.stringify(recordsOf(900)), 200));
      const read = streamer(service.baseUrl);
      for (let round = 0; round < 5; round++) {
        let records = 0;
        const some = await read(CHIPID, NEVER, () => ++records < 10);
        assert.equal(some.records, records);
        assert.ok(records < 900 && !some.isWhole, `${records} records`);
      }
      assert.ok(service.connections() <= 2, 'a connection is used again');
    });

    const short = JSON.stringify(recordsOf(300));
    for (const [what, headers] of [
      ['of no announced length, if it has less than 48 KiB', {}],
      ['that is announced to be short', { 'content-length': `${short.length}` }],
    ] as const)
      it(`is given all of an answer ${what}`, async () => {
        const service = await httpService(raw(short, 200, headers));
        const some = await streamer(service.baseUrl)(CHIPID, NEVER, () => false);
        assert.deepEqual([some.records, some.isWhole], [300, true]);
      });

    it('waits a second at most for a rest that does not come, and succeeds', async () => {
      const expire = heldTimers(1000);
      const service = await httpService((response) => {
        response.writeHead(200);
        response.write(LONG);
      });
      const read = streamer(service.baseUrl);
      for (let round = 0; round < 3; round++) {
        const begun = manual();
        const reading = read(CHIPID, NEVER, () => {
          setImmediate(begun.resolve);
          return false;
        });
        await begun.promise;
        expire();
        const some = await reading;
        assert.equal(some.isWhole, false);
      }
      assert.ok(service.connections() >= 3, 'each connection is closed');
    });

    it('succeeds though its rest breaks off, is aborted or takes too long', async () => {
      const expire = heldTimers();
      const ends: ((response: ServerResponse, abort: AbortController) => void)[] = [
        (response) => void response.socket?.resetAndDestroy(),
        (_response, abort) => abort.abort(),
        // There was progress in the first time-out.
        () => [expire, expire].forEach((each) => each()),
      ];
      heldTimers(1000);
      for (const end of ends) {
        const abort = new AbortController();
        const begun = manual();
        const service = await httpService((response) => {
          response.writeHead(200);
          response.write(LONG);
          void begun.promise.then(() => end(response, abort));
        });
        const read = streamer(service.baseUrl, { timeout: HOUR });
        const some = await read(CHIPID, abort.signal, () => {
          setImmediate(begun.resolve);
          return false;
        });
        assert.equal(some.isWhole, false);
      }
    });

    it('succeeds at the last record, though it has not seen the end', async () => {
      heldTimers(1000);
      const service = await httpService(raw(`${LONG.slice(0, -1)}]`));
      const read = streamer(service.baseUrl);
      for (let round = 0; round < 5; round++) {
        const some = await read(CHIPID, NEVER, (record) => (record as { id: number }).id < 899);
        assert.deepEqual([some.records, some.bytes, some.isWhole], [900, LONG.length, false]);
      }
      assert.ok(service.connections() <= 2, 'a connection is used again');
    });
  });

  it('rejects with what the sink throws, and frees its place', async () => {
    const service = await httpService(inSequence(endless, json([1])));
    const read = streamer(service.baseUrl);
    const { outcomes, turn } = turnOf();
    const thrown = read(
      CHIPID,
      NEVER,
      () => {
        throw new RangeError('mine');
      },
      turn,
    );
    await assert.rejects(thrown, new RangeError('mine'));
    assert.deepEqual(outcomes, [undefined]);
    assert.deepEqual(await all(read), [1]);
    assert.equal(service.requests.length, 2);
  });

  const answers: Record<string, [script: Script, code: ErrorCode, why: RegExp]> = {
    302: [raw('[1]', 302, { location: '/' }), 'REDIRECT', /302/],
    404: [json({ msg: 'none' }, 404), 'NOT_FOUND', /"none"/],
    'an array with 500': [json([1], 500), 'SERVER_ERROR', /500/],
    'an array with 206': [json([1], 206), 'UNEXPECTED_STATUS', /206/],
    html: [raw('<!doctype html>'), 'INVALID_RESPONSE', /not JSON/],
    empty: [raw(''), 'INVALID_RESPONSE', /empty/],
    null: [raw('null'), 'INVALID_RESPONSE', /not an array/],
    'an object with msg': [
      json({ msg: `no ${KEYS.appkey}` }),
      'INVALID_RESPONSE',
      /not an array\. .* failed: "no \*\*\*"/,
    ],
    'half of an array': [raw('[1,{"a":'), 'INVALID_RESPONSE', /not JSON/],
    gzip: [
      raw(gzipSync('[1]'), 200, { 'content-encoding': 'gzip' }),
      'INVALID_RESPONSE',
      /compressed/,
    ],
    'a gzip bomb': [
      raw(gzipSync(Buffer.alloc(70 * MIB, ' ')), 200, { 'content-encoding': 'gzip' }),
      'INVALID_RESPONSE',
      /compressed/,
    ],
    'a reset before the answer': [reset, 'CONNECTION_LOST', /broke off/],
    'a reset in the body': [cutAfter('[1,2,'), 'CONNECTION_LOST', /broke off/],
  };
  for (const [what, [script, code, why]] of Object.entries(answers)) {
    it(`is ${code} with ${what}, once; the next good call works`, async () => {
      const service = await httpService(inSequence(script, json([1])));
      const read = streamer(service.baseUrl);
      const { outcomes, turn } = turnOf();
      const error = await failure(read(CHIPID, NEVER, ignore, turn), code);
      assert.match(error.message, why);
      assert.match(error.message, /device 10000001/);
      assert.equal(outcomes.length, 1);
      assert.equal(service.requests.length, 1, 'nothing is repeated');
      assert.deepEqual(await all(read), [1]);
    });
  }

  it('ends its turn in any case, and passes on how long the service asks to wait', async () => {
    const scripts = inSequence(
      json([]),
      raw('', 503, { 'retry-after': '7' }),
      reset,
      json({}),
      hang,
    );
    const service = await httpService(scripts);
    const read = streamer(service.baseUrl);
    const { outcomes, turn } = turnOf();
    for (const code of [
      undefined,
      'SERVER_ERROR',
      'CONNECTION_LOST',
      'INVALID_RESPONSE',
    ] as const) {
      const reading = read(CHIPID, NEVER, ignore, turn);
      await (code ? failure(reading, code) : reading);
    }
    const abort = new AbortController();
    const aborted = failure(read(CHIPID, abort.signal, ignore, turn), 'CONNECTION_LOST');
    await until(() => service.requests.length === 5);
    abort.abort();
    await aborted;
    const refused = streamer(`http://127.0.0.1:${await freePort()}`);
    await failure(refused(CHIPID, NEVER, ignore, turn), 'UNREACHABLE');
    const none = Array<undefined>(4).fill(undefined);
    assert.deepEqual(outcomes, [undefined, 7000, ...none]);
  });

  describe('takes its time', () => {
    const timed = (baseUrl: string): StreamHistory => streamer(baseUrl, { timeout: HOUR });
    const piece = (count: number): string => `${JSON.stringify(recordsOf(count)).slice(1, -1)},`;
    const FIRST = 300;
    const NEXT = 900;
    /** A history that begins, and goes on when the test says so. */
    const begun = async () => {
      const responses: ServerResponse[] = [];
      const service = await httpService((response) => {
        responses.push(response);
        response.write(`[${piece(FIRST)}`);
      });
      return { service, responses };
    };

    it('until the first bytes, which must come in the time-out', async () => {
      const expire = heldTimers();
      const service = await httpService(inSequence(hang, json([1])));
      const read = timed(service.baseUrl);
      const slow = failure(read(CHIPID, NEVER, ignore), 'TIMEOUT');
      await until(() => service.requests.length === 1);
      expire();
      assert.match((await slow).message, /no answer in 3600 s\. .* Try again later/);
      assert.deepEqual(await all(read), [1]);
    });

    it('and ends if less than 64 KiB come in a further time-out, though something always comes', async () => {
      const expire = heldTimers();
      const { service, responses } = await begun();
      let records = 0;
      const slow = failure(
        timed(service.baseUrl)(CHIPID, NEVER, () => void records++),
        'TIMEOUT',
      );
      await until(() => records > 0);
      expire();
      responses[0]?.write(piece(FIRST));
      await until(() => records > FIRST);
      const closed = responses[0] && ended(responses[0]);
      expire();
      const { message } = await slow;
      assert.match(message, /less than 64 KiB of the answer came in 3600 s\. .* Try again later/);
      await closed;
    });

    it('as long as it makes progress, up to forty time-outs', async () => {
      const expire = heldTimers();
      const { service, responses } = await begun();
      let records = 0;
      const read = timed(service.baseUrl);
      const slow = failure(
        read(CHIPID, NEVER, () => void records++),
        'TIMEOUT',
      );
      await until(() => records > 0);
      for (let times = 0; times < 39; times++) {
        expire();
        responses[0]?.write(piece(NEXT));
        await until(() => records > FIRST + times * NEXT);
      }
      expire();
      assert.match((await slow).message, /did not end within 144000 s/);
    });

    it('and leaves no timer behind', async () => {
      const expire = heldTimers();
      const { service, responses } = await begun();
      let records = 0;
      const before = resources();
      const application = open(service.baseUrl, { timeout: HOUR });
      const reading = application.open?.streamHistory(CHIPID, NEVER, () => void records++);
      await until(() => records > 0);
      expire();
      responses[0]?.end('{}]');
      assert.equal((await reading)?.records, FIRST + 1);
      await application.close();
      await until(() => service.sockets() === 0, 'the end of all connections');
      await gone(before);
    });
  });

  it('is UNREACHABLE if it was aborted before, and nothing is sent', async () => {
    const service = await httpService(json([]));
    const read = streamer(service.baseUrl);
    await failure(read(CHIPID, AbortSignal.abort(), ignore), 'UNREACHABLE');
    assert.equal(service.connections(), 0);
  });

  it('is CONNECTION_LOST if it is aborted under way, and no further record is passed on', async () => {
    const service = await httpService(inSequence(endless, endless, json([1])));
    const read = streamer(service.baseUrl);
    for (const later of [false, true]) {
      const abort = new AbortController();
      let records = 0;
      const lost = read(CHIPID, abort.signal, () => {
        if (++records !== 100) return;
        if (later) setImmediate(() => abort.abort());
        else abort.abort();
      });
      await failure(lost, 'CONNECTION_LOST');
      const then = records;
      if (!later) assert.equal(then, 100);
      await new Promise((resolve) => setTimeout(resolve, 20));
      assert.equal(records, then);
    }
    assert.deepEqual(await all(read), [1]);
  });

  it('is CONNECTION_LOST if the client is closed', async () => {
    const service = await httpService(endless);
    const application = open(service.baseUrl);
    let records = 0;
    const lost = application.open?.streamHistory(CHIPID, NEVER, () => void records++);
    assert.ok(lost);
    const failed = failure(lost, 'CONNECTION_LOST');
    await until(() => records > 0);
    await application.close();
    await failed;
  });

  it('waits for its place as other calls do', async () => {
    const service = await httpService(hang);
    const application = open(service.baseUrl, { timeout: 200 });
    const read = application.open?.streamHistory;
    assert.ok(read);
    const expire = heldTimers(200);
    const failed = failure(
      Promise.all(Array.from({ length: CONNECTIONS + 1 }, () => read(CHIPID, NEVER, ignore))),
      'TIMEOUT',
    );
    await until(() => service.requests.length === CONNECTIONS, 'all but one have arrived');
    expire();
    assert.match((await failed).message, /0\.2 s/);
    assert.equal(service.requests.length, CONNECTIONS);
  });
});
