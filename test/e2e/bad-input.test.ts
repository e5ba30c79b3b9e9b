import assert from 'node:assert/strict';
import { ONE, fixture } from './harness/fixture';
import { around, buffer, js } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

const CHIPIDS = [
  ...['../x', '%2f', '1.5', '-1', '', ' ', 'a b', '1e3', '0x10', '١٢', '1\r\n2', '__proto__'],
  ...[1.5, -1, 2 ** 53, true, null, [], {}, ['10000001'], '1'.repeat(21), buffer('31')],
  ...[js('NaN'), js('Infinity'), js('10n'), js('undefined'), js('() => 1'), js('new Date(1)')],
];
const PINS = [-1, 1.5, '1e9', '', true, null, js('NaN'), js('Infinity'), '../1', [], {}];
const LEVELS = [2, -1, '2', '', 'up', null, js('NaN'), js('undefined'), [], {}, buffer('31')];
const HEXES = ['0', '0g', '0x00', '00\n11', 'zz', 12, true, null, {}, js('undefined')];
const BASE64S = ['A', 'AA=A', '====', 'ä', 'AAH_', 12, true, null, {}, js('undefined')];
const TEXTS = [
  ...[null, js('undefined'), js('() => 1'), js('10n'), js('NaN'), js('Symbol("x")')],
  ...[js('(() => { const a = {}; a.a = a; return a; })()'), buffer('fffe'), '\ud800'],
];
const FORMATS = ['msg', 'hex', '', 'PWM', null, 1, {}, js('undefined'), '__proto__'];
const KEYS = ['', null, js('undefined'), {}, []];
const DAYS = ['2024-13-01', '20240230', 'yesterday', '', null, {}, js('NaN'), '../20240101'];
const DEVICEIDS = ['../x', 'a b', '', null, '..', 'a/b', 'ä', {}];

describe('what is not what a call takes is INVALID_INPUT, and nothing is sent', () => {
  const here = fixture((simulator) => [
    app(simulator),
    ...around('push', node('push')),
    ...around('hex', node('push', { format: 'HEX' })),
    ...around('base64', node('push', { format: 'B64' })),
    ...around('format', node('push', { format: 'msg' })),
    ...around('channel-at', node('push', { transport: 'channel', format: 'AT' })),
    ...around('gpio', node('gpio')),
    ...around('gpio-read', node('gpio', { operation: 'read' })),
    ...around('reboot', node('reboot')),
    ...around('refresh', node('refresh')),
    ...around('value', node('rt-status')),
    ...around('uploads', node('history')),
    ...around('sync', node('history', { operation: 'sync' })),
    ...around('server', node('server', { operation: 'device' })),
    ...around('server-update', node('server', { operation: 'update' })),
  ]);

  const cases: [name: string, what: string, values: unknown[], message: object][] = [
    ...['push', 'gpio', 'reboot', 'refresh', 'value', 'uploads'].map(
      (name): (typeof cases)[number] => [
        name,
        'chipid',
        CHIPIDS,
        { payload: 1, pin: 1, key: 'uptime' },
      ],
    ),
    ['gpio', 'pin', PINS, { chipid: ONE, payload: 1 }],
    ['gpio-read', 'pin', PINS, { chipid: ONE }],
    ['gpio', 'payload', LEVELS, { chipid: ONE, pin: 1 }],
    ['hex', 'payload', HEXES, { chipid: ONE }],
    ['base64', 'payload', BASE64S, { chipid: ONE }],
    ['push', 'payload', TEXTS, { chipid: ONE }],
    ['format', 'format', FORMATS, { chipid: ONE, payload: 'x' }],
    ['channel-at', 'payload', ['AT'], { chipid: ONE }],
    ['value', 'key', KEYS, { chipid: ONE }],
    ['sync', 'begin', DAYS, { end: '20240102' }],
    ['sync', 'end', DAYS, { begin: '20240101' }],
    ['sync', 'end', ['20231231'], { begin: '20240101' }],
    ['server', 'deviceid', DEVICEIDS, {}],
    ['server-update', 'payload', ['text', 1, null, [], buffer('00')], { deviceid: ONE }],
  ];

  for (const [name, property, values, message] of cases) {
    it(`${name}: each of ${values.length} bad values of msg.${property}`, async () => {
      const before = (await here.red.results(name, 'error')).length;
      const messages = values.map((value) => ({ ...message, [property]: value }));
      await here.red.inject(name, ...messages);
      const errors = await here.red.waitFor(name, 'error', before + values.length);
      const codes = errors.slice(before).map(({ error }) => error?.code);
      assert.deepEqual(codes, new Array(values.length).fill('INVALID_INPUT'));
      assert.deepEqual(await here.red.results(name, 'out'), []);
      assert.equal(here.simulator.requests.length, 0);
    });
  }
});
