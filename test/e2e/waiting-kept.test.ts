import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { ONE, TWO } from './harness/devices';
import { around, buffer } from './harness/flows';
import { startNodeRed, type NodeRed } from './harness/node-red';

describe('commands that wait when Node-RED is killed', () => {
  let simulator: Simulator;
  let red: NodeRed;

  /** Resolves once a command is in its file, with the service's time: without it, a restart ends it. */
  const kept = (text: string): Promise<void> =>
    until(async () => {
      const folder = join(red.userDir, 'device-cloud', 'app');
      const names = (await readdir(folder).catch(() => [])).filter((name) =>
        name.endsWith('.json'),
      );
      const texts = names.map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
      return (await Promise.all(texts)).some(
        (each) => each.includes(text) && !each.includes('"at":null'),
      );
    }, `${text} is written down`);
  const texts = (chipid: string) => simulator.device(chipid).received.map(({ text }) => text);

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1, offlineAfter: 100 });
    const wait = { when: 'upload' } as const;
    const flows = [app(simulator), ...around('push', node('push', wait))];
    red = await startNodeRed({ flows, env: {} });
  });
  after(async () => {
    await red.stop();
    await simulator.close();
  });

  it('are sent once, in order, and leave as new messages; one that had begun is uncertain and never sent again', async () => {
    for (const payload of ['a', 'b'])
      await red.inject('push', { chipid: ONE, payload, topic: payload, data: buffer('00ff') });
    for (const text of ['"a"', '"b"']) await kept(text);
    await until(() => simulator.channels(ONE) === 1, 'it listens to the device');
    simulator.fail('hang', { chipid: TWO, acts: true });
    for (const payload of ['begun', 'behind'])
      await red.inject('push', { chipid: TWO, payload, topic: payload });
    await kept('"behind"');
    await until(() => simulator.channels(TWO) === 1, 'it listens to the other device');
    simulator.upload(TWO, 'awake');
    await until(() => texts(TWO).length === 1, 'the first has reached it');

    process.kill(red.pid()!, 'SIGKILL');
    await until(() => simulator.channels(ONE) + simulator.channels(TWO) === 0, 'it is gone');
    simulator.heal();
    red = await startNodeRed({ userDir: red.userDir, env: {} });

    const [error] = await red.waitFor('push', 'error');
    assert.deepEqual(
      [
        error!.topic,
        error!['uncertain'],
        error!['chipid'],
        (error!['error'] as { code?: string }).code,
      ],
      ['begun', true, TWO, 'TIMEOUT'],
    );
    await until(() => simulator.channels(ONE) + simulator.channels(TWO) === 2, 'it listens');
    await red.inject('push', { chipid: ONE, payload: 'c', topic: 'c' });
    await kept('"c"');
    simulator.upload(ONE, 'awake');
    simulator.upload(TWO, 'awake');
    const sent = await red.waitFor('push', 'out', 4);
    assert.deepEqual(
      [texts(ONE), texts(TWO)],
      [
        ['a', 'b', 'c'],
        ['begun', 'behind'],
      ],
    );
    assert.deepEqual(sent.map(({ topic }) => topic).sort(), ['a', 'b', 'behind', 'c']);
    const first = sent.find(({ topic }) => topic === 'a')!;
    assert.deepEqual(
      [first.payload, first['data'], first['chipid']],
      [{ msg: 'OK' }, { $buffer: '00ff' }, ONE],
    );
  });
});
