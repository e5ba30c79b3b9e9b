import assert from 'node:assert/strict';
import { startSimulator, type Simulator } from '../../src/simulator';
import { openEditor } from './harness/editor';
import { ONE } from './harness/devices';
import { until } from '../tooling/until';
import { around, idOf } from './harness/flows';
import { type FlowNode, app, node } from '../tooling/node-red/nodes';
import { startNodeRed, type NodeRed } from './harness/node-red';

describe('a real Node-RED with a wrong credential secret', () => {
  let simulator: Simulator;
  let red: NodeRed;
  const flows = (): FlowNode[] => [
    app(simulator),
    ...around('push', node('push')),
    ...around('server', node('server')),
    ...around('listen', node('listen', { chipids: [ONE] })),
  ];
  const works = async (): Promise<void> => {
    const { sent, error } = await red.ask('push', { chipid: ONE, payload: 'x' });
    assert.deepEqual([sent[0]?.payload, error], [{ msg: 'OK' }, undefined]);
    await until(() => simulator.channels(ONE) === 1, 'the channel is open');
  };

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1 });
    const first = await startNodeRed({ flows: flows(), settings: { credentialSecret: 'one' } });
    red = first;
    await works();
    await first.stop();
    const { userDir } = first;
    red = await startNodeRed({ userDir, settings: { credentialSecret: 'another' } });
  });
  after(async () => {
    await red.everyMessageEndedOnce();
    await red.stop();
    await simulator.close();
  });

  it('starts, shows red, and fails each message without touching the network', async () => {
    const before = simulator.requests.length;
    const pid = red.pid();
    const editor = await openEditor(red.url);
    for (const name of ['push', 'server', 'listen']) {
      const shown = () => editor.statuses.get(idOf(name));
      await until(() => shown() !== undefined, `${name} shows a status`);
      const expected = { fill: 'red', shape: 'ring', text: 'status.not-configured' };
      assert.deepEqual(shown(), expected);
    }
    editor.close();
    for (const name of ['push', 'server']) {
      const { sent, error } = await red.ask(name, { chipid: ONE, payload: 'x' });
      assert.deepEqual(sent, []);
      assert.equal(error?.error?.code, 'NOT_CONFIGURED');
      assert.match(error.error.message, /key.*Open the configuration .* fill them in/s);
    }
    assert.equal(simulator.requests.length, before);
    await red.logged(/\[warn\] \[device-cloud-listen:node-listen\] .* fill them in/);
    assert.ok(pid !== undefined && pid === red.pid());
  });

  it('works again once the keys have been entered again', async () => {
    const { error } = await red.ask('push', { chipid: ONE, payload: 'x' });
    await red.deploy(flows());
    await works();
    simulator.upload(ONE, 'good');
    await red.waitFor('listen', 'out');
    assert.doesNotMatch(red.log(), /uncaught|unhandled/i);
    assert.equal(error?.error?.code, 'NOT_CONFIGURED');
  });
});
