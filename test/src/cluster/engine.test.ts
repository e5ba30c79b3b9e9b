import assert from 'node:assert/strict';
import { createServer, type Socket } from 'node:net';
import { Engine, type Channels } from '../../../src/cluster/engine';
import { EngineError } from '../../../src/cluster/engine-error';
import type { EngineSettings } from '../../../src/protocol/engine-address';
import { keysOf, BEAT } from '../../../src/cluster/scripts';
import { atEnd } from '../../tooling/servers/at-end';
import { certificateFiles, LOOPBACK } from '../../tooling/servers/certs';
import { onLoopback } from '../../tooling/servers/loopback';
import { freePort } from '../../tooling/servers/ports';
import { startRedis } from '../../tooling/servers/redis';
import { until } from '../../tooling/until';
import { answers, describeOnRedis } from '../../support/redis';

const LIMIT = 500;
const { meta, members, shares, all } = keysOf('1');

async function open(
  settings: EngineSettings,
  channels: Channels = { [all]: () => undefined },
): Promise<Engine> {
  const engine = await Engine.open(settings, channels);
  atEnd(() => engine.close());
  return engine;
}

const beat = (engine: Engine): Promise<unknown> =>
  engine.run(
    LIMIT,
    BEAT,
    [meta, members, shares],
    [
      JSON.stringify({
        ...{ member: 'a', number: 1, lease: 5000, wants: true, takes: true, leave: false },
        ...{ held: [], top: 0, dead: [], random: 'r', settings: '{}' },
      }),
      all,
    ],
  );

/** Waits until a beat fails with this text. */
async function failure(engine: Engine, text: RegExp): Promise<EngineError> {
  let last = '';
  return until(
    () =>
      beat(engine).then(
        () => void (last = 'an answer'),
        (error: unknown) => {
          assert.ok(error instanceof EngineError);
          last = error.message;
          return text.test(last) ? error : undefined;
        },
      ),
    `it says ${text}`,
    8000,
  ).catch((error: unknown) => {
    throw new Error(`It said: ${last}`, { cause: error });
  });
}

/** Whatever answers at a port. @returns a connection to it, and how many it has had */
async function answering(
  onSocket: (socket: Socket) => void,
  settings: EngineSettings = {},
): Promise<{ engine: Engine; connections: () => number }> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    onSocket(socket);
  });
  const { port, close, connections } = await onLoopback(server);
  atEnd(close);
  return { engine: await open({ url: `redis://127.0.0.1:${port}`, ...settings }), connections };
}

const ready = (engine: Engine): Promise<void> => until(() => answers(engine), 'it answers');

describe('the address of an engine', () => {
  const wrong: readonly [string, EngineSettings, RegExp][] = [
    ['is missing', {}, /needs a url/],
    ['is of another kind', { url: 'http://127.0.0.1' }, /must begin with redis:/],
    ['has a path', { url: 'redis://a/x' }, /number of a database/],
    ['has a query', { url: 'redis://a?x=1' }, /nothing else/],
    ['has credentials that are not encoded', { url: 'redis://%E0%A4%A:x@a' }, /URL-encoded/],
    ['has sentinels too', { url: 'redis://a', sentinels: 'b', master: 'm' }, /leave one of them/],
    ['has sentinels without a master', { sentinels: 'b' }, /name of the master/],
    ['has malformed addresses of Sentinels', { sentinels: 'b,c/d', master: 'm' }, /must be a host/],
  ];
  for (const [what, settings, text] of wrong)
    it(`that ${what} is an error which does not repeat it`, async () => {
      await assert.rejects(
        Engine.open({ password: 'se-cret', ...settings }, {}),
        (error: Error) => {
          assert.match(error.message, /^NOT_CONFIGURED: /);
          assert.match(error.message, text);
          assert.doesNotMatch(error.message, /se-cret|%E0/);
          return true;
        },
      );
    });
});

describe('an engine that', () => {
  it('is not there, is said to be so, and nothing was sent', async () => {
    const engine = await open({ url: `redis://127.0.0.1:${await freePort()}` });
    const { isUnsent } = await failure(engine, /ECONNREFUSED/);
    assert.equal(isUnsent, true);
  });

  const banners = {
    SMTP: '220 mail.example.com ESMTP\r\n',
    POP3: '+OK POP3 server ready\r\n',
    IRC: ':irc.example.com NOTICE * :*** Looking up your hostname\r\n',
  };
  const others = { ...banners, numbers: ':1\r\n', nothing: '$-1\r\n', 'empty lists': '*0\r\n' };
  for (const [what, text] of Object.entries(others))
    it(`answers like ${what}, is said to be something else, and is not subscribed to`, async () => {
      const asked: string[] = [];
      const { engine } = await answering((socket) => {
        if (what in banners) socket.write(text);
        socket.on('data', (data) => {
          asked.push(String(data));
          for (const _ of String(data).match(/\*\d+\r\n\$\d+\r\n\w+/g) ?? []) socket.write(text);
        });
      });
      const { isMistake } = await failure(engine, /neither Redis nor Valkey/);
      assert.equal(isMistake, true);
      assert.doesNotMatch(asked.join(''), /subscribe/i);
    });

  for (const [what, text, said] of [
    ['ends connections at once', '', /ends connections without an answer/],
    ['refuses them in a text', '-DENIED Redis is running in protected mode\r\n', /protected mode/],
  ] as const)
    it(`${what}, is said to do so`, async () => {
      const { engine } = await answering((socket) => {
        if (text === '') socket.end();
        else socket.once('data', () => socket.end(text));
      });
      await failure(engine, said);
    });

  it('is something else, and then only breaks connections, is said to be something else', async () => {
    let answered = 0;
    const { engine, connections } = await answering((socket) => {
      // One connection is for commands, and one for what is subscribed to.
      if (++answered > 2) socket.resetAndDestroy();
      else socket.write('HTTP/1.1 400 Bad Request\r\n\r\n');
    });
    await until(() => connections() > 6, 'it has connected again and again');
    await assert.rejects(beat(engine), /neither Redis nor Valkey/);
  });

  it('is silent, is given up, and asked over another connection', async () => {
    // With a password, the library waits for the answer to it.
    const settings = { password: 'any' };
    const { engine, connections } = await answering((socket) => void socket.resume(), settings);
    await failure(engine, /no answer within 2000 ms/);
    const before = connections();
    await until(() => connections() > before, 'it connects again');
  });

  for (const [version, text] of [
    [
      '6.2',
      "ERR Error running script (call to f_1): @user_script:9: @user_script: 9: -READONLY You can't write against a read only replica.",
    ],
    ['7.0', "READONLY You can't write against a read only replica. script: 1, on @user_script:9."],
  ] as const)
    it(`is a replica, in the words of ${version}, is left for another connection`, async () => {
      const { engine, connections } = await answering((socket) => {
        // Each command is an array; all that is needed is how many there are.
        socket.on('data', (data) => {
          const commands = String(data).match(/\*\d+\r\n\$\d+\r\n\w+/g) ?? [];
          for (const command of commands)
            if (/EVAL/i.test(command)) socket.write(`-${text}\r\n`);
            else socket.write(/PING/i.test(command) ? '+device-cloud\r\n' : '+OK\r\n');
        });
      });
      const { isRefusal } = await failure(engine, /it is a replica/);
      assert.equal(isRefusal, true);
      const before = connections();
      await until(() => connections() > before, 'it connects again');
    });
});

describeOnRedis('an engine of this machine that', () => {
  const start = async (...config: string[]): Promise<string> => {
    const redis = await startRedis({ config });
    atEnd(() => redis.end());
    return redis.url;
  };

  const running = async () => {
    const redis = await startRedis();
    atEnd(() => redis.end());
    const engine = await open({ url: redis.url });
    await ready(engine);
    return { redis, engine };
  };

  it('requires a password, refuses a wrong one and none, and no text has it', async () => {
    const url = await start('requirepass right-one');
    for (const password of ['wrong-one', '']) {
      const { message } = await failure(
        await open({ url, password }),
        /refuses the user or the password/,
      );
      assert.doesNotMatch(message, /wrong-one/);
    }
    await ready(await open({ url, password: 'right-one' }));
    await ready(await open({ url: url.replace('//', '//default:right-one@') }));
  });

  it('does not allow all that is needed, has the missing rights named', async () => {
    const url = await start(
      'user few on >secret ~{dc:1}:* &{dc:1}:* +@all -info -wait -subscribe -hset -del',
      'user other on >secret ~other:* &other:* +@all',
      // As docs/use/cluster.md says it.
      'user all on >secret ~{dc:* &{dc:* +@connection +eval +evalsha +hgetall +hget +hset +hdel +del +info +time +publish +subscribe +unsubscribe +wait',
    );
    const missing = async (user: string): Promise<string[]> => {
      const engine = await open({ url, user, password: 'secret' });
      return until(() => engine.missingRights(keysOf('1'), LIMIT).catch(() => undefined));
    };
    const engine = await open({ url, user: 'few', password: 'secret' });
    assert.equal((await failure(engine, /NOPERM|can't run/)).lacksRights, true);
    assert.deepEqual(await missing('few'), ['+del', '+hset', '+info', '+subscribe', '+wait']);
    assert.deepEqual(await missing('other'), ['&{dc:1}:*', '~{dc:1}:*']);
    const whole = await open({ url, user: 'all', password: 'secret' });
    await ready(whole);
    assert.match(String(await beat(whole)), /"generation":"r"/);
    assert.deepEqual(await missing('all'), []);
  });

  it('has no database of the number, says so, and the first one is not used instead', async () => {
    const url = await start();
    await failure(await open({ url: `${url}/9999` }), /has no database of the number/);
    const first = await open({ url });
    await ready(first);
    assert.deepEqual(await first.call(LIMIT, 'KEYS', '*'), []);
    const last = await open({ url: `${url}/15` });
    await ready(last);
    await beat(last);
    assert.equal(await first.call(LIMIT, 'EXISTS', meta), 0);
    assert.equal(await last.call(LIMIT, 'EXISTS', meta), 1);
  });

  it('has a key of something else, has it named', async () => {
    const url = await start();
    for (const key of [meta, members, shares]) {
      const engine = await open({ url });
      await ready(engine);
      await engine.call(LIMIT, 'FLUSHALL');
      await engine.call(LIMIT, 'SET', key, 'text');
      const { isMistake, message } = await failure(engine, /another type than a hash/);
      assert.ok(isMistake && message.includes(key));
    }
  });

  it('is a Redis Cluster, is said not to be supported', async () => {
    const url = await start('cluster-enabled yes');
    await failure(await open({ url }), /is a Redis Cluster.*Sentinels/);
  });

  it('has what another format keeps, is left alone', async () => {
    const url = await start();
    const engine = await open({ url });
    await ready(engine);
    await engine.call(LIMIT, 'HSET', meta, 'format', '7');
    await failure(engine, /has the format 7.*knows 1/);
    assert.deepEqual(await engine.call(LIMIT, 'HGETALL', members), []);
  });

  it('is asked for TLS and does not speak it, or has a certificate that is not trusted, says so', async () => {
    const url = await start();
    await failure(await open({ url: url.replace('redis:', 'rediss:') }), /no TLS/);
    const port = await freePort();
    const { cert, key } = certificateFiles('loopback');
    const tls = `rediss://127.0.0.1:${port}`;
    await start(
      `tls-port ${port}`,
      `tls-cert-file ${cert}`,
      `tls-key-file ${key}`,
      'tls-auth-clients no',
    );
    await failure(await open({ url: tls }), /self-signed certificate/);
    await ready(await open({ url: tls, tls: { ca: LOOPBACK.cert } }));
  });

  it('hangs, is given up, and answers a later connection', async () => {
    const { redis, engine } = await running();
    redis.stop();
    const { isUnsent } = await failure(engine, /no answer within 500 ms/);
    assert.equal(isUnsent, false);
    redis.cont();
    await ready(engine);
  });

  it('hangs, costs one connection, however many commands wait for it', async () => {
    const { redis, engine } = await running();
    const warnings: string[] = [];
    const onWarning = ({ name }: Error): void => void warnings.push(name);
    process.on('warning', onWarning);
    atEnd(() => process.off('warning', onWarning));
    redis.stop();
    const late = Array.from({ length: 20 }, () => engine.call(100, 'PING'));
    const ends = await Promise.allSettled(late);
    assert.ok(ends.every(({ status }) => status === 'rejected'));
    redis.cont();
    await ready(engine);
    assert.deepEqual(warnings, []);
  });

  it('ends and starts again, is found again, and has its channels', async () => {
    const redis = await startRedis();
    const heard: string[] = [];
    const engine = await open({ url: redis.url }, { one: (text) => heard.push(text) });
    await ready(engine);
    const say = (): Promise<boolean> =>
      engine.call(LIMIT, 'PUBLISH', 'one', 'hello').then(
        (count) => count === 1,
        () => false,
      );
    await until(say, 'the channel is subscribed');
    await until(() => engine.isSubscribed, 'it knows that');
    await redis.end();
    await until(() => !engine.isSubscribed, 'it hears nothing any more');
    await failure(engine, /ECONNREFUSED/);
    const again = await startRedis({ port: redis.port });
    atEnd(() => again.end());
    await until(say, 'the channel is subscribed again');
    await until(() => heard.length === 2);
  });
});
