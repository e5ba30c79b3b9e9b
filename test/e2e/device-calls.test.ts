import assert from 'node:assert/strict';
import { ONE, TWO, fixture } from './harness/fixture';
import { until } from '../../tooling/until';
import { around } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

const LONG = '12345678901234567890';

describe('calls to a device in a real Node-RED', () => {
  const here = fixture(
    (simulator) => [
      app(simulator),
      ...around('set', node('gpio')),
      ...around('set-five', node('gpio', { pin: '5', pinType: 'num' })),
      ...around('read', node('gpio', { operation: 'read' })),
      ...around('read-all', node('gpio', { operation: 'read', pin: '', pinType: 'num' })),
      ...around('words', node('gpio', { operation: 'read', codes: '{"1":"on"}' })),
      ...around('reboot', node('reboot')),
      ...around('refresh', node('refresh')),
      ...around('value', node('rt-status')),
    ],
    {
      simulator: {
        devices: [
          { chipid: ONE, callbacks: { nested: { a: [1, null] }, zero: 0, no: false, nil: null } },
          { chipid: TWO },
          { chipid: LONG },
        ],
      },
    },
  );

  it('sets a pin to every level a message may name', async () => {
    for (const [level, character] of [
      [1, '1'],
      [0, '0'],
      ['1', '1'],
      ['0', '0'],
      [true, '1'],
      [false, '0'],
      ['high', '1'],
      ['low', '0'],
      ['on', '1'],
      ['off', '0'],
    ] as const) {
      const { sent } = await here.red.ask('set', { chipid: ONE, pin: 3, payload: level });
      assert.deepEqual(sent[0]!.payload, { result: 'OK' });
      assert.equal(here.simulator.device(ONE).levels[3], character, `level ${level}`);
    }
  });

  it('sets a pin that is fixed in the node', async () => {
    await here.red.ask('set-five', { chipid: TWO, payload: 1 });
    assert.equal(here.simulator.device(TWO).levels, '0000010000000000');
    assert.match(here.simulator.requests.at(-1)!.path, /\/set_gpio_edge\/10000002\/5\/1\/$/);
  });

  it('reads one pin, all pins, and leaves a character without a meaning as it is', async () => {
    await here.red.ask('set', { chipid: ONE, pin: 2, payload: 1 });
    const one = (await here.red.ask('read', { chipid: ONE, pin: 2 })).sent[0]!;
    assert.equal(one.payload, 1);
    assert.equal(one['result'], '0010000000000000');
    const all = (await here.red.ask('read-all', { chipid: ONE })).sent[0]!;
    assert.deepEqual(all.payload, [0, 0, 1, ...new Array<number>(13).fill(0)]);
    const words = (await here.red.ask('words', { chipid: ONE, pin: 2 })).sent[0]!;
    assert.equal(words.payload, 'on');
    const unknown = (await here.red.ask('words', { chipid: ONE, pin: 1 })).sent[0]!;
    assert.equal(unknown.payload, '0');
  });

  it('reboots a device', async () => {
    const { boots } = here.simulator.device(TWO);
    const { sent } = await here.red.ask('reboot', { chipid: TWO });
    assert.deepEqual(sent[0]!.payload, { result: 'OK' });
    await until(() => here.simulator.device(TWO).boots === boots + 1, 'the device is back');
  });

  it('tells a device that is online from one that is not', async () => {
    const on = (await here.red.ask('refresh', { chipid: ONE })).sent[0]!;
    assert.deepEqual([on.payload, on['online']], [{ status: 'online', msg: 'OK' }, true]);
    here.simulator.switchOff(ONE);
    const off = (await here.red.ask('refresh', { chipid: ONE })).sent[0]!;
    assert.equal(off['online'], false);
    here.simulator.switchOn(ONE);
  });

  it('reads the value of a callback, whatever its shape', async () => {
    for (const [key, value] of [
      ['nested', { a: [1, null] }],
      ['zero', 0],
      ['no', false],
      ['nil', null],
    ] as const) {
      const { sent } = await here.red.ask('value', { chipid: ONE, key });
      assert.deepEqual(sent[0]!.payload, value, key);
    }
  });

  it('loses no digit of a chip number beyond the safe integers', async () => {
    const { sent } = await here.red.ask('set', { chipid: LONG, pin: 0, payload: 1 });
    assert.equal(sent[0]!['chipid'], LONG);
    assert.equal(here.simulator.device(LONG).levels[0], '1');
  });
});
