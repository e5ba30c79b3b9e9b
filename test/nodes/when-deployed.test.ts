import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import helper from 'node-red-node-test-helper';
import type { Simulator } from '../../src/simulator';
import { until } from '../tooling/until';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, caught, post, shows } from './support/messages';
import { startCloud, stateFolder, useNodeRed, writtenCommands } from './support/node-red';

const ONE = '10000001';
const TWO = '10000002';

describe('a command that waits while its flow is deployed', () => {
  useNodeRed();
  let cloud: Simulator;

  const flow = (push: object = {}, gpio: object = {}, app: object = {}) => [
    cloudApp(cloud, app),
    node('push', { when: 'upload', ...push }),
    node('gpio', { when: 'upload', many: true, ...gpio }),
  ];
  const wake = async (chipid: string): Promise<void> => {
    await until(() => cloud.channels(chipid) === 1, 'the channel is open');
    cloud.upload(chipid, 'awake');
  };
  const texts = (chipid: string) => cloud.device(chipid).received.map(({ text }) => text);
  const errors = () =>
    arrivedAt('caught').map(
      (msg) => (msg as { error?: { code?: string; message?: string } }).error,
    );

  beforeEach(async () => {
    cloud = await startCloud();
    await load(flow());
    for (const payload of ['a', 'b'])
      post('push', { chipid: ONE, payload, topic: payload, buffer: Buffer.from('ß'), no: () => 0 });
    await shows('push', 'status.awaiting-device');
  });

  for (const [how, properties] of [
    ['all nodes', [{}, {}, {}]],
    ['another node', [{}, { pin: '7' }, {}]],
    ['the application', [{}, {}, { timeout: 20 }]],
    ['its name and its place', [{ name: 'new', x: 7 }, {}, {}]],
  ] as const)
    it(`goes on after a deploy of ${how}: once, in order, with its message`, async () => {
      await deploy(flow(...properties), how === 'another node' ? 'nodes' : 'full');
      await shows('push', 'status.awaiting-device');
      post('push', { chipid: ONE, payload: 'c', topic: 'c' });
      await wake(ONE);
      await until(() => texts(ONE).length === 3, 'all are sent');
      await until(() => arrivedAt('out').length === 3, 'all have left the node');
      assert.deepEqual(texts(ONE), ['a', 'b', 'c']);
      const [first] = arrivedAt('out');
      assert.deepEqual(
        [first!.topic, first!.payload, first!['buffer'], 'no' in first!],
        // A function is on the message only if it has not been written down and read.
        ['a', { msg: 'OK' }, Buffer.from('ß'), how === 'another node'],
      );
      assert.deepEqual(errors(), []);
      const left = (): number => [...writtenCommands(), ...writtenCommands('begun')].length;
      await until(() => left() === 0, 'nothing is kept any more');
    });

  for (const [how, change] of [
    ['its node was changed', () => flow({ format: 'LUA' })],
    ['its application is removed', () => flow().slice(1)],
    ['its application is removed from its node', () => flow({ app: '' })],
    [
      'its node has another configuration',
      () => [...flow({ app: 'other' }), cloudApp(cloud, { id: 'other' })],
    ],
    [
      'its application is another one',
      async () => [cloudApp(await startCloud()), ...flow().slice(1)],
    ],
  ] as const)
    it(`ends with CANCELLED if ${how}, and reaches the Catch node`, async () => {
      await deploy(await change());
      assert.deepEqual(
        (await caught(2)).map(({ topic, payload, error }) => [topic, payload, error.code]),
        [
          ['a', 'a', 'CANCELLED'],
          ['b', 'b', 'CANCELLED'],
        ],
      );
      await deploy(flow());
      cloud.upload(ONE, 'awake');
      await deploy(flow());
      assert.deepEqual([texts(ONE), errors().length], [[], 2]);
    });

  it('goes on once its application, which was disabled, is enabled', async () => {
    await deploy(flow({}, {}, { d: true }));
    await deploy(flow());
    await wake(ONE);
    await until(() => texts(ONE).length === 2, 'both are sent');
    assert.deepEqual([texts(ONE), errors()], [['a', 'b'], []]);
  });

  for (const [what, nodes, credentials] of [
    ['without its key', () => flow(), {}],
    ['with an address that is not set', () => flow({}, {}, { baseUrl: '${MISSING}' }), undefined],
    ['with its application disabled', () => flow({}, {}, { d: true }), undefined],
    ['with its node disabled', () => flow({ d: true }), undefined],
    ['on a branch without the application', () => [node('push', { app: '' })], undefined],
  ] as const)
    it(`goes on after a start ${what}`, async () => {
      await helper.unload();
      await load(nodes(), credentials);
      assert.equal(writtenCommands().length, 2);
      await helper.unload();
      await load(flow());
      await wake(ONE);
      await until(() => texts(ONE).length === 2, 'both are sent');
      assert.deepEqual([texts(ONE), errors()], [['a', 'b'], []]);
    });

  for (const [how, isRestarted] of [
    ['', false],
    [', which it was before Node-RED started', true],
  ] as const)
    it(`ends with CANCELLED if its application is removed while it is disabled${how}`, async () => {
      await deploy(flow({}, {}, { d: true }));
      if (isRestarted) {
        await helper.unload();
        await load(flow({}, {}, { d: true }));
      }
      await deploy(flow().slice(1));
      await until(() => errors().length === 2, 'both have ended');
      assert.match(String(errors()[0]?.message), /application .* removed\. .* to device 10000001 /);
      await until(() => !existsSync(stateFolder), 'nothing is left of it');
    });

  it('of several devices leaves as a message for each, with the result of one that has ended', async () => {
    cloud.switchOff(TWO);
    post('gpio', { chipid: [ONE, TWO], pin: 3, payload: 1, topic: 'many' });
    await shows('gpio', 'status.awaiting-device');
    await wake(ONE);
    await until(() => writtenCommands('begun').some((text) => /"end"/.test(text)), 'one has ended');
    await deploy(flow());
    await shows('gpio', 'status.awaiting-device');
    cloud.switchOn(TWO);
    await wake(TWO);
    const found = () => arrivedAt('out').filter(({ topic }) => topic === 'many');
    await until(() => found().length === 2, 'both leave the node');
    assert.deepEqual(
      found().map(({ payload }) =>
        (payload as { chipid: string; ok: boolean }[]).map(({ chipid, ok }) => [chipid, ok]),
      ),
      [[[ONE, true]], [[TWO, true]]],
    );
    const edges = cloud.requests.filter(({ path }) => path.includes('set_gpio_edge'));
    assert.equal(edges.length, 2);
  });

  it('switches the pins that names meant, and the levels of those that are active low', async () => {
    const named = (): ReturnType<typeof flow> => [
      ...flow({}, { deviceType: 'type' }),
      { id: 'type', type: 'device-cloud-type', name: 'lamps', pins: 'valve: 5, lamp: 12 low' },
    ];
    await deploy(named());
    post('gpio', { chipid: [ONE, TWO], pin: 'lamp', payload: 'off', topic: 'many' });
    await shows('gpio', 'status.awaiting-device');
    await deploy(named());
    await shows('gpio', 'status.awaiting-device');
    for (const chipid of [ONE, TWO]) await wake(chipid);
    const isOut = (): boolean =>
      arrivedAt('out').filter(({ topic }) => topic === 'many').length === 2;
    await until(isOut, 'the messages leave the node');
    assert.deepEqual(
      [ONE, TWO].map((chipid) => cloud.device(chipid).levels[12]),
      ['1', '1'],
    );
  });
});
