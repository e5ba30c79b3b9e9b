import assert from 'node:assert/strict';
import { openEditor } from './harness/editor';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { until } from '../../tooling/until';
import { around, idOf } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

describe('device-cloud-listen in a real Node-RED', () => {
  const here = fixture((simulator) => [
    app(simulator),
    ...around('list', node('listen', { chipids: [ONE, TWO] })),
    ...around('same', node('listen', { chipids: [ONE], datatype: 'buffer' })),
    ...around('text', node('listen', { chipids: [ONE], datatype: 'utf8' })),
    ...around('base64', node('listen', { chipids: [ONE], datatype: 'base64' })),
    ...around('online', node('listen', { devices: 'online', refresh: '1' })),
    ...around('dynamic', node('listen', { devices: 'dynamic' })),
  ]);

  const open = (chipid: string, count = 1): Promise<void> =>
    until(() => here.simulator.channels(chipid) === count, `${chipid} has ${count} channels`);

  const payloads = async (name: string, chipid: string, count: number): Promise<unknown[]> => {
    const all = await here.red.waitFor(name, 'out', count);
    return all.filter((message) => message.topic === chipid).map((message) => message.payload);
  };

  it('emits the uploads of several devices, with all the contract names', async () => {
    await open(ONE);
    await open(TWO);
    const before = Date.now();
    here.simulator.upload(ONE, { temperature: 21.5 });
    here.simulator.upload(TWO, 'plain text');
    here.simulator.upload(TWO, Buffer.from('ff00', 'hex'));
    const sent = await here.red.waitFor('list', 'out', 3);
    const [first] = sent.filter((message) => message['chipid'] === ONE);
    const { _msgid, timestamp, ...rest } = first!;
    assert.deepEqual(rest, {
      payload: { temperature: 21.5 },
      topic: ONE,
      chipid: ONE,
      appid: here.simulator.appid,
    });
    assert.ok(typeof _msgid === 'string' && typeof timestamp === 'number');
    // The event's time is in whole seconds.
    assert.ok(timestamp >= before - 1000 && timestamp <= Date.now());
    assert.deepEqual(await payloads('list', TWO, 3), ['plain text', { $buffer: 'ff00' }]);
  });

  it('shares one channel among all nodes that listen to a device, each with its own datatype', async () => {
    assert.equal(here.simulator.channels(ONE), 1);
    assert.deepEqual(await payloads('same', ONE, 1), [
      { $buffer: Buffer.from('{"temperature":21.5}').toString('hex') },
    ]);
    assert.deepEqual(await payloads('text', ONE, 1), ['{"temperature":21.5}']);
    assert.deepEqual(await payloads('base64', ONE, 1), [
      Buffer.from('{"temperature":21.5}').toString('base64'),
    ]);
  });

  it('shows that it is connected, and of several devices how many are', async () => {
    const editor = await openEditor(here.red.url);
    const shown = (name: string): unknown => editor.statuses.get(idOf(name));
    await until(() => shown('same') !== undefined && shown('list') !== undefined, 'a status');
    editor.close();
    assert.deepEqual(shown('same'), { fill: 'green', shape: 'dot', text: 'status.connected' });
    assert.deepEqual(shown('list'), { fill: 'green', shape: 'dot', text: '2/2' });
  });

  it('listens to every device that is online, also to one that comes later', async () => {
    await open(THREE);
    here.simulator.addDevice({ chipid: 10000004 });
    await open('10000004');
    here.simulator.upload(10000004, 'new here');
    const sent = await here.red.waitFor('online', 'out', 4);
    assert.equal(sent.at(-1)!.payload, 'new here');
  });

  it('listens to the devices that messages name', async () => {
    await here.red.ask('dynamic', { action: 'subscribe', chipid: [10000003, '10000004'] });
    const { sent } = await here.red.ask('dynamic', { action: 'list' });
    assert.deepEqual(JSON.stringify(sent[0]!.payload).match(/\d{8}/g), [THREE, '10000004']);
    here.simulator.upload(THREE, 'heard');
    const before = (await here.red.waitFor('dynamic', 'out', 2)).length;
    await here.red.ask('dynamic', { action: 'unsubscribe', chipid: THREE });
    here.simulator.upload(THREE, 'not heard');
    here.simulator.upload(10000004, 'heard, too');
    const heard = await here.red.waitFor('dynamic', 'out', before + 1);
    assert.deepEqual(
      heard.map(({ payload }) => payload).filter((payload) => typeof payload === 'string'),
      ['heard', 'heard, too'],
    );
    const { error } = await here.red.ask('dynamic', { action: 'subscribe', chipid: '../x' });
    assert.equal(error?.error?.code, 'INVALID_INPUT');
  });

  it('connects again by itself after the service has dropped it', async () => {
    const before = (await here.red.results('same', 'out')).length;
    here.simulator.disconnect(undefined, { terminate: true });
    await until(() => here.simulator.channels(ONE) === 0, 'the channel is down');
    await open(ONE);
    here.simulator.upload(ONE, 'back again');
    const sent = await here.red.waitFor('text', 'out', before + 1);
    assert.equal(sent.at(-1)!.payload, 'back again');
    const colours = (await here.red.results('text', 'status')).map(({ status }) => status?.fill);
    assert.ok(colours.includes('red'), 'the loss was shown');
    const editor = await openEditor(here.red.url);
    await until(() => editor.statuses.get(idOf('text'))?.fill === 'green', 'it is green again');
    editor.close();
  });

  it('closes its channels when it is removed', async () => {
    await here.red.deploy([app(here.simulator), ...around('list', node('listen', { chipids: [TWO] }))]); // prettier-ignore
    await until(() => here.simulator.channels() === 1, 'only one channel is left');
    assert.equal(here.simulator.channels(TWO), 1);
  });
});
