import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import type { DeviceCloudClient } from '../../../src/client';
import { clientOf, KEYS, serving } from '../support/client';
import { failure } from '../support/failure';
import {
  httpService,
  inSequence,
  json,
  raw,
  type Script,
} from '../../tooling/servers/http-service';
import { wireService } from '../../tooling/servers/wire-service';
import { until } from '../../tooling/until';
import { freePort } from '../../tooling/servers/ports';

const MIB = 1024 * 1024;

const DEEP = `{"msg":${'['.repeat(2500)}${']'.repeat(2500)}}`;

/** Successes whose body is not what is due, by name. */
const WRONG: Record<string, { script: Script; why: RegExp }> = {
  empty: { script: raw(''), why: /empty/ },
  html: { script: raw('<!doctype html><p>Please log in'), why: /not JSON/ },
  'half of JSON': { script: raw('{"msg":"OK"'), why: /not JSON/ },
  null: { script: raw('null'), why: /not a JSON object/ },
  'an array for an object': { script: raw('["OK"]'), why: /not a JSON object/ },
  'nested too deeply': { script: raw(DEEP), why: /nested deeper than 100 levels.*firmware/ },
  'of too many objects': { script: raw(`{"a":[${'{},'.repeat(1_000_000)}1]}`), why: /1,000,000/ },
  gzip: {
    script: raw(gzipSync('{"msg":"OK"}'), 200, { 'content-encoding': 'gzip' }),
    why: /compressed/,
  },
  'an encoding nobody knows': {
    script: raw('{"msg":"OK"}', 200, { 'content-encoding': 'x-own' }),
    why: /compressed/,
  },
};

describe('a success with an unexpected body', () => {
  for (const [name, { script, why }] of Object.entries(WRONG)) {
    it(`is INVALID_RESPONSE if it is ${name}; the next good call works`, async () => {
      const { service, client } = await serving(inSequence(script, json({ msg: 'OK' })));
      const error = await failure(client.push(10000001, 'x'), 'INVALID_RESPONSE');
      assert.equal(error.statusCode, 200);
      assert.match(error.message, why);
      assert.match(error.message, /device 10000001 .*may have acted/);
      assert.deepEqual((await client.push(1, 'x')).body, { msg: 'OK' });
      assert.equal(service.requests.length, 2);
    });
  }

  it('is good if it begins with a byte order mark, and a failure says its msg behind one', async () => {
    const { client } = await serving(
      inSequence(raw('\uFEFF{"msg":"OK"}'), raw('\uFEFF{"msg":"no such device"}', 404)),
    );
    assert.deepEqual((await client.push(1, 'x')).body, { msg: 'OK' });
    assert.match((await failure(client.push(1, 'x'), 'NOT_FOUND')).message, /no such device/);
  });

  const shapes: [
    call: string,
    run: (client: DeviceCloudClient) => Promise<unknown>,
    bodies: string[],
  ][] = [
    ['devices', (client) => client.devices(), ['{}', '[1]', '[null]', '[[]]', '"x"']],
    ['uploadHistory', (client) => client.uploadHistory(1), ['{"msg":"OK"}', '["x"]']],
    ['app', (client) => client.app(), ['{}', '[]', '{"online":{}}', '{"online":[1]}']],
    ['gpioStatus', (client) => client.gpioStatus(1), ['{}', '{"result":1}', '[]']],
    ['reboot', (client) => client.reboot(1), ['{"msg":"OK"}', '{"result":null}']],
    ['refresh', (client) => client.refresh(1), ['{"msg":"OK"}', '{"status":null,"msg":"OK"}']],
    ['serverDevice', (client) => client.serverDevice('a'), [DEEP]],
    ['rtStatus', (client) => client.rtStatus(1, 'k'), [DEEP, `[${DEEP}]`]],
    ['appHistory', (client) => client.appHistory('20260101', '20260102'), [`[${DEEP}]`]],
  ];
  for (const [call, run, bodies] of shapes) {
    it(`is INVALID_RESPONSE for ${call} as ${bodies.map((body) => body || 'nothing').join(' ')}`, async () => {
      for (const body of bodies) {
        const service = await httpService(raw(body));
        await failure(run(clientOf(service.baseUrl)), 'INVALID_RESPONSE');
        assert.equal(service.requests.length, 1, 'it is not asked again');
      }
    });
  }

  it('is reported with its msg, on one line and without secrets', async () => {
    const msg = `no such thing\nas ${KEYS.appkey}`;
    const { client } = await serving(json({ msg }));
    for (const call of [client.devices(), client.app(), client.reboot(1)]) {
      const { message } = await failure(call, 'INVALID_RESPONSE');
      assert.match(message, /The answer is not .* failed: "no such thing.as \*\*\*"\. /);
    }
  });

  it('may say that its encoding is identity', async () => {
    const service = await httpService(raw('{"msg":"OK"}', 200, { 'content-encoding': 'Identity' }));
    assert.deepEqual((await clientOf(service.baseUrl).push(1, 'x')).body, { msg: 'OK' });
  });

  it('is INVALID_RESPONSE if it is over 64 MiB, with or without its length', async () => {
    const piece = Buffer.alloc(MIB, ' ');
    for (const headers of [{}, { 'content-length': 70 * MIB }]) {
      let poured = 0;
      const huge: Script = (response) => {
        response.writeHead(200, headers);
        const pour = (): void => {
          while (poured < 70 && !response.destroyed) {
            poured++;
            if (!response.write(piece)) return;
          }
        };
        response.on('drain', pour);
        pour();
      };
      const { client } = await serving(inSequence(huge, json({ msg: 'OK' })));
      assert.match((await failure(client.push(1, 'x'), 'INVALID_RESPONSE')).message, /64 MiB/);
      assert.deepEqual((await client.push(1, 'x')).body, { msg: 'OK' });
    }
  });
});

describe('a push with an answer other than OK or success', () => {
  const answers: [body: unknown, shown: string][] = [
    [{ msg: 'FAIL' }, 'the msg "FAIL"'],
    [{ msg: 'OK, later' }, 'the msg "OK, later"'],
    [{ msg: `refused\n${KEYS.appkey}` }, 'the msg "refused\ufffd***"'],
    [{ result: 'OK' }, 'an object that has no msg'],
    [{ msg: 5 }, 'a msg that is not text but 5'],
    [{ msg: ['OK'] }, 'a msg that is not text but an array'],
  ];
  for (const [body, shown] of answers) {
    it(`is NOT_ACCEPTED, with ${JSON.stringify(body)}`, async () => {
      const { service, client } = await serving(json(body));
      const one = await failure(client.push(10000001, 'x'), 'NOT_ACCEPTED');
      const start = 'NOT_ACCEPTED: The service answered 200, but not with OK or success.';
      const answered = `${start} Push to device 10000001 was answered with ${shown}.`;
      assert.ok(one.message.startsWith(answered), one.message);
      assert.match(one.message, /Whether the device acted is unknown/);
      assert.equal(one.statusCode, 200);
      const all = await failure(client.pushToApp('x'), 'NOT_ACCEPTED');
      assert.match(all.message, / Push to all online devices was answered with /);
      assert.equal(service.requests.length, 2, 'each goes out once');
    });
  }

  it('is a success with OK or success in upper or lower case, to a device or to all', async () => {
    for (const msg of ['OK', 'ok', 'Success', 'SUCCESS', 'sucess', 'Sucess']) {
      const client = clientOf((await httpService(json({ msg }))).baseUrl);
      assert.deepEqual((await client.push(1, 'x')).body, { msg });
      assert.deepEqual((await client.pushToApp('x')).body, { msg });
    }
  });
});

const GOOD = 'HTTP/1.1 200 OK\r\ncontent-length: 30\r\n\r\n{"status":"online","msg":"OK"}';

/** What is no HTTP at all, by name. */
const GARBAGE: Record<string, string> = {
  'no status line': 'hello\r\n\r\n',
  'a broken header': 'HTTP/1.1 200 OK\r\nbad header\r\n\r\n',
  'an invalid chunk': 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n',
  'endless headers': `HTTP/1.1 200 OK\r\n${'x-a: b\r\n'.repeat(20_000)}\r\n`,
};

describe('an answer that is not HTTP', () => {
  for (const [name, bytes] of Object.entries(GARBAGE)) {
    it(`is INVALID_RESPONSE if it is ${name}; the next good call works`, async () => {
      const service = await wireService((socket: Socket, count) => {
        socket.write(count === 0 ? bytes : GOOD, 'latin1');
      });
      const client = clientOf(service.baseUrl);
      const error = await failure(client.refresh(1), 'INVALID_RESPONSE');
      assert.match(error.message, /not HTTP/);
      assert.deepEqual((await client.refresh(1)).body, { status: 'online', msg: 'OK' });
      assert.equal(service.requests(), 2);
    });
  }

  it('may follow others that only announce it', async () => {
    const service = await wireService((socket) => {
      socket.write('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n');
      socket.write(GOOD);
    });
    assert.equal((await clientOf(service.baseUrl).refresh(1)).statusCode, 200);
  });
});

/** Ways in which a connection ends after the request, by name. */
const BREAKS: Record<string, (socket: Socket) => void> = {
  'closed before the answer': (socket) => void socket.end(),
  'reset before the answer': (socket) => void socket.resetAndDestroy(),
  'closed in the headers': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-le'),
  'closed in the body': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"msg":'),
  'closed in a chunked body': (socket) =>
    void socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n7\r\n{"msg":\r\n'),
  'reset in the body': (socket) =>
    void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"msg":', () =>
      socket.resetAndDestroy(),
    ),
};

describe('a connection that ends after the request', () => {
  for (const [name, end] of Object.entries(BREAKS)) {
    it(`is CONNECTION_LOST if it is ${name}: a command goes out once, and the next works`, async () => {
      const service = await wireService((socket, count) => {
        if (count === 0) end(socket);
        else socket.write(GOOD);
      });
      const client = clientOf(service.baseUrl);
      const { message } = await failure(client.refresh(10000001), 'CONNECTION_LOST');
      assert.match(message, /device 10000001 .*acted is unknown/);
      assert.equal(service.requests(), 1);
      assert.deepEqual((await client.refresh(1)).body, { status: 'online', msg: 'OK' });
    });
  }
});

describe('a connection that cannot be established', () => {
  it('is UNREACHABLE if it is refused, with the address and the code of the reason', async () => {
    const port = await freePort();
    const client = clientOf(`http://127.0.0.1:${port}`);
    const { message } = await failure(client.push(1, 'x'), 'UNREACHABLE');
    assert.match(
      message,
      /Not sent \(ECONNREFUSED\).* The service could not be reached\. Check the address/,
    );
  });

  it('is UNREACHABLE if the name is unknown', async () => {
    const client = clientOf('http://nowhere.invalid:8080', { timeout: 30_000 });
    const { message } = await failure(client.reboot(1), 'UNREACHABLE');
    assert.match(message, /\((ENOTFOUND|EAI_AGAIN)\)/);
  });

  it('is established once the service is back', async () => {
    const port = await freePort();
    const client = clientOf(`http://127.0.0.1:${port}`);
    for (let call = 0; call < 3; call++) await failure(client.push(1, 'x'), 'UNREACHABLE');
    await wireService((socket) => void socket.end(GOOD), undefined, { port });
    assert.deepEqual((await client.refresh(1)).body, { status: 'online', msg: 'OK' });
  });
});

describe('a kept-alive connection', () => {
  it('is used again', async () => {
    const { service, client } = await serving(json({ status: 'online', msg: 'OK' }));
    for (let call = 0; call < 9; call++) await client.push(1, 'x');
    // A call that follows at once may find the first one still busy.
    assert.ok(service.connections() <= 2);
  });

  it('that the service closed meanwhile is replaced without a failure', async () => {
    const service = await wireService((socket) => void socket.end(GOOD));
    const client = clientOf(service.baseUrl);
    for (let call = 0; call < 5; call++) {
      assert.equal((await client.refresh(1)).statusCode, 200);
      await until(() => service.sockets() === 0, 'the end of the connection');
    }
    assert.equal(service.connections(), 5);
  });

  it('that ends while a command is being sent is CONNECTION_LOST, and the command is sent once', async () => {
    const service = await wireService((socket, count) => {
      if (count === 1) socket.resetAndDestroy();
      else socket.write(GOOD);
    });
    const client = clientOf(service.baseUrl);
    await client.refresh(1);
    await failure(client.refresh(1), 'CONNECTION_LOST');
    assert.equal(service.requests(), 2);
    await client.refresh(1);
    assert.equal(service.requests(), 3);
  });
});
