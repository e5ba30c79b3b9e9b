import assert from 'node:assert/strict';
import { MOST } from '../../../src/fleet/devices';
import { shortText } from '../../../src/fleet/latest';
import { FleetRegistry } from '../../../src/fleet/registry';
import { DeviceCloudError } from '../../../src/errors';
import type { Upload } from '../../../src/types';
import { collect } from '../support/garbage';

const upload = (chipid: string, body: string | Buffer, timestamp = 1000): Upload => ({
  ...{ chipid, appid: '1', timestamp },
  body: Buffer.from(body),
});

/** What a live upload leaves, with the Base64 that came in its frame. */
function add(registry: FleetRegistry, chipid: string, body: string | Buffer): void {
  const given = upload(chipid, body);
  registry.onLive(given, given.body.toString('base64'));
}

const texts = (registry: FleetRegistry, chipid: string): string[] =>
  registry.recent(chipid).uploads.map(({ text }) => text);

describe('what devices did of late', () => {
  let now = 0;
  let registry: FleetRegistry;
  beforeEach(() => {
    now = 0;
    registry = new FleetRegistry(() => now);
  });

  it('keeps the last 20 uploads of each device, the newest first', () => {
    for (now = 1; now <= 25; now++) add(registry, '1', `upload ${now}`);
    add(registry, '2', 'other');
    const { uploads } = registry.recent('1');
    assert.equal(uploads.length, MOST);
    const body = Buffer.from('upload 25');
    assert.deepEqual(uploads[0], { at: 25, text: 'upload 25', size: 9, source: 'live', body });
    assert.equal(uploads.at(-1)?.text, 'upload 6');
    assert.deepEqual(texts(registry, '2'), ['other']);
    assert.deepEqual(registry.recent('3'), { uploads: [], commands: [] });
  });

  it('gives back all of an upload of 801 bytes, and of a longer one only the beginning', () => {
    for (const size of [801, 802]) add(registry, '1', 'x'.repeat(size));
    const [longer, whole] = registry.recent('1').uploads;
    assert.equal(whole?.body?.length, 801);
    assert.ok(longer && longer.size === 802 && !('body' in longer));
  });

  it('keeps the outcome of commands, and of one that sets a pin which it is', async () => {
    let end = (_value: string): void => undefined;
    const running = new Promise<string>((resolve) => (end = resolve));
    const given = registry.onCommand('1', { kind: 'gpio', pin: 5, level: 0 }, running);
    assert.equal(given, running);
    const failure = new DeviceCloudError('TIMEOUT', 'No answer.');
    const failed = registry.onCommand('1', { kind: 'push' }, Promise.reject(failure));
    await assert.rejects(failed, failure);
    now = 250;
    await assert.rejects(
      registry.onCommand('1', { kind: 'request' }, Promise.reject(new Error('odd'))),
    );
    assert.deepEqual(registry.recent('1').commands, [
      { at: 250, kind: 'request', outcome: 'ERROR', message: 'Error: odd', took: 0 },
      { at: 0, kind: 'push', outcome: 'TIMEOUT', message: failure.message, took: 0 },
      { at: 0, kind: 'gpio', outcome: null, took: null, pin: 5, level: 0 },
    ]);
    end('done');
    await running;
    const [, , last] = registry.recent('1').commands;
    assert.deepEqual([last?.outcome, last?.took], ['OK', 250]);
  });

  it('does not keep a long upload in memory: its beginning is a copy', () => {
    const long = Array.from({ length: 300 }, (_, count) => `${count} `.padEnd(200_000, 'long'));
    long.forEach((base64, device) => {
      const given = { ...upload(String(device), ''), body: Buffer.from(base64, 'base64') };
      registry.onLive(given, base64);
    });
    collect();
    const before = process.memoryUsage().heapUsed;
    long.length = 0;
    collect();
    const freed = before - process.memoryUsage().heapUsed;
    assert.ok(freed > 50_000_000, String(freed));
  });
});

describe('the beginning of an upload as text', () => {
  const short = (
    body: string | Buffer,
    longest = 100,
    charset: 'utf-8' | 'gbk' = 'utf-8',
  ): string => shortText(Buffer.from(body).toString('base64'), true, longest, charset);

  const CASES: readonly [what: string, body: string | Buffer, text: string][] = [
    ['text', 'hello', 'hello'],
    ['nothing', '', ''],
    ['lines', ' a\n\tb\r\n', 'a b'],
    ['what hides in a line', 'a\u202eb\u0000c', 'a\ufffdb\ufffdc'],
    ['Chinese', '温度', '温度'],
    ['bytes', Buffer.from([1, 2, 255]), '0x0102ff'],
  ];
  for (const [what, body, text] of CASES)
    it(`shows ${what}`, () => assert.equal(short(body), text));

  it('is never longer than asked for, wherever a character is cut', () => {
    for (const body of ['x', 'é', '温', '\u{1f331}', '\u0001'])
      for (const length of [99, 100, 101, 133, 134, 135, 400, 1000, 5000]) {
        const text = short(body.repeat(length));
        assert.ok(text.length <= 100, `${body} ${length}: ${text.length}`);
        assert.ok(!text.startsWith('0x'), `${body} ${length}`);
        assert.equal(text.endsWith('…'), body.length * length > 100, `${body} ${length}`);
      }
    assert.equal(short(Buffer.alloc(1000, 255)).length, 100);
  });

  it('reads GBK where that is the charset', () => {
    const bytes = Buffer.from([0xce, 0xc2, 0xb6, 0xc8]);
    assert.equal(short(bytes, 100, 'gbk'), '温度');
    assert.equal(short(bytes), '0xcec2b6c8');
    const many = short(Buffer.concat(Array<Buffer>(300).fill(bytes)), 100, 'gbk');
    assert.match(many, /^(温度)+温?…$/);
  });
});
