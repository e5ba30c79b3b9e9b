import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { cloudApp, load, node } from './support/flow';
import { call, fail, shows } from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';

const ENV = 'DEVICE_CLOUD_TEST_VALUE';

describe('a node with typed inputs', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const received = () => cloud.device(chipid).received.at(-1)?.text;

  afterEach(() => {
    Reflect.deleteProperty(process.env, ENV);
  });

  async function start(properties: object): Promise<void> {
    cloud = await startWith(node('push', properties));
  }
  const contextOf = () => helper.getNode('push')!.context();

  const DEVICES: [chipidType: string, value: string, msg: object][] = [
    ['msg', 'a.list[1].id', { a: { list: [0, { id: chipid }] } }],
    ['str', chipid, { chipid: 'not this' }],
    ['flow', 'deep.device[0]', {}],
    ['global', 'device', {}],
    ['env', ENV, {}],
    ['jsonata', 'devices[name="b"].id', { devices: [{ name: 'b', id: 10000001 }] }],
    ['jsonata', '$flowContext("device")', {}],
  ];

  for (const [chipidType, value, msg] of DEVICES) {
    it(`reads the device from ${chipidType} ${value}`, async () => {
      await start({ chipid: value, chipidType });
      contextOf().flow.set('device', chipid);
      contextOf().flow.set('deep', { device: [10000001] });
      contextOf().global.set('device', chipid);
      process.env[ENV] = chipid;
      const out = await call('push', { payload: 'here', ...msg });
      assert.equal(out['chipid'], chipid);
      assert.equal(received(), 'here');
    });
  }

  const TEXTS: [messageType: string, value: string, text: string][] = [
    ['msg', 'deep.text', 'of the message'],
    ['str', '', ''],
    ['num', '12.50', '12.5'],
    ['bool', 'true', 'true'],
    ['json', '{"a": [1]}', '{"a":[1]}'],
    ['bin', '[65, 66]', 'AB'],
    ['jsonata', '{"n": n + 1}', '{"n":8}'],
  ];

  for (const [messageType, value, text] of TEXTS) {
    it(`pushes what ${messageType} ${value} gives`, async () => {
      await start({ message: value, messageType });
      await call('push', { chipid, payload: 'not this', n: 7, deep: { text: 'of the message' } });
      assert.equal(received(), text);
    });
  }

  it('pushes the current time if configured', async () => {
    await start({ message: '', messageType: 'date' });
    const before = Date.now();
    await call('push', { chipid });
    const at = Number(received());
    assert.ok(at >= before && at <= Date.now());
  });

  it('fails where the property is empty, and sends nothing', async () => {
    const nowhere: [string, string][] = [
      ['msg', 'chipid'],
      ['msg', '__proto__'],
      ['str', ''],
      ['global', 'gone.deeper'],
      ['env', 'DEVICE_CLOUD_TEST_UNSET'],
      ['jsonata', 'gone'],
      ['jsonata', '$number("x")'],
      ['jsonata', '[1,2]'],
    ];
    cloud = await startCloud();
    const nodes = nowhere.map(([chipidType, value], index) =>
      node('push', { id: `push${index}`, chipid: value, chipidType }),
    );
    await load([cloudApp(cloud), ...nodes]);
    for (const { id } of nodes) await fail(id, { payload: 'x' }, 'INVALID_INPUT');
    assert.equal(cloud.requests.length, 0);
  });

  it('shows at once that an expression is invalid, and fails each message', async () => {
    await start({ chipid: '$(', chipidType: 'jsonata' });
    await shows('push', 'status.not-configured');
    await fail('push', { payload: 'x', chipid }, 'NOT_CONFIGURED');
    await fail('push', { payload: 'x', chipid }, 'NOT_CONFIGURED');
    assert.equal(cloud.requests.length, 0);
  });

  it('names the property that could not be read', async () => {
    await start({ message: '{"a":', messageType: 'json' });
    const caught = await fail('push', { chipid }, 'INVALID_INPUT');
    assert.match(caught.error.message, /"message"/);
  });
});
