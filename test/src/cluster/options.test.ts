import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readAddress } from '../../../src/cluster/redis/connect';
import { isDeviceCloudError } from '../../../src/errors';
import { repository } from '../../../tooling/repository';

describe('the address of a cluster', () => {
  it('is a URL, with the credentials in it or beside it', () => {
    const { hosts, isTls, database, user, password } = readAddress({
      url: 'rediss://me:p%40ss@redis.example:7000/2',
    });
    assert.deepEqual([hosts, isTls, database], [[{ host: 'redis.example', port: 7000 }], true, 2]);
    assert.deepEqual([user, password], ['me', 'p@ss']);
    const beside = readAddress({ url: 'redis://a:b@[::1]', user: 'c', password: 'd' });
    assert.deepEqual(beside.hosts, [{ host: '::1', port: 6379 }]);
    assert.deepEqual([beside.user, beside.password], ['c', 'd']);
  });

  it('may be several URLs of a Redis Cluster', () => {
    const { hosts } = readAddress({ url: 'redis://a, redis://b:7001' });
    assert.deepEqual(
      hosts.map(({ host, port }) => `${host}:${port}`),
      ['a:6379', 'b:7001'],
    );
  });

  it('may be those of Sentinels, with the name of the primary', () => {
    const { hosts, master } = readAddress({ sentinels: 's1, s2:26380', master: 'primary' });
    assert.deepEqual(
      [hosts[0], hosts[1]?.port, master],
      [{ host: 's1', port: 26_379 }, 26_380, 'primary'],
    );
  });

  it('is refused with the reason, without being repeated', () => {
    const wrong = [
      {},
      { url: 'http://:secret@host' },
      { url: 'redis://:secret@host/x' },
      { url: 'redis://:secret@host?a=1' },
      { url: 'redis://a:secret%@host' },
      { url: 'redis://:secret@a/1,redis://b' },
      { url: 'redis://a,rediss://:secret@b' },
      { sentinels: 'a:1' },
      { url: 'redis://:secret@a', sentinels: 'b', master: 'm' },
      { sentinels: 'user:secret@a', master: 'm' },
      { sentinels: 'a:99999', master: 'm' },
    ];
    for (const address of wrong) {
      assert.throws(
        () => readAddress(address),
        (error) => isDeviceCloudError(error, 'NOT_CONFIGURED') && !error.message.includes('secret'),
        JSON.stringify(address),
      );
    }
  });
});

describe('the client library of the cluster', () => {
  it('is loaded by one file, and only when it is needed', () => {
    const source = join(repository, 'src');
    const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.ts'),
    );
    const loads = /(?:from|require\(|import\()\s*'ioredis/;
    const found = files.filter((name) => loads.test(readFileSync(join(source, name), 'utf8')));
    assert.deepEqual(found, [join('cluster', 'redis', 'connect.ts')]);
    const text = readFileSync(join(source, found[0]!), 'utf8');
    assert.match(text, /await import\('ioredis'\)/);
    assert.doesNotMatch(text, /from 'ioredis'/);
  });
});
