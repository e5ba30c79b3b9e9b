import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startSimulator } from '../../src/simulator';
import type { Simulator } from '../../src/simulator';
import { app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { ONE } from './harness/devices';
import { around } from './harness/flows';
import { startNodeRed, type NodeRed } from './harness/node-red';

describe('what a Node-RED with default settings keeps over a restart', () => {
  let simulator: Simulator;
  let red: NodeRed;

  const flows = () => [
    app(simulator),
    ...around('listen', node('listen', { chipids: [ONE], recover: 'restart' })),
    ...around('history', node('history', { incremental: true })),
  ];
  const upload = (...bodies: string[]): void => {
    for (const body of bodies) simulator.upload(ONE, body);
  };
  const isOpen = (): Promise<void> =>
    until(() => simulator.channels(ONE) === 1, 'the channel is open');
  const emitted = async (): Promise<unknown[]> =>
    (await red.results('listen', 'out')).map(({ payload }) => payload);
  const again = async (files?: () => Promise<void>): Promise<void> => {
    await files?.();
    red = await startNodeRed({ userDir: red.userDir, env: {} });
    await isOpen();
  };
  const folder = (): string => join(red.userDir, 'device-cloud', 'app');
  const written = (kind: 'mark' | 'position', text: RegExp): Promise<void> =>
    until(async () => {
      const file = join(folder(), `${kind}.json`);
      return text.test(await readFile(file, 'utf8').catch(() => ''));
    }, `the ${kind} has ${text.source}`);
  const bodiesRead = async (): Promise<unknown[]> => {
    const { sent } = await red.ask('history', { chipid: ONE });
    return (sent[0]!.payload as { body: string }[]).map(({ body }) => body);
  };

  before(async () => {
    simulator = await startSimulator({ interval: 0, answerDelay: 1 });
    red = await startNodeRed({ flows: flows(), env: {} });
    await isOpen();
  });
  after(async () => {
    await red.stop();
    await simulator.close();
  });

  it('is the position of each device and the marks of histories, over a stop and over a kill', async () => {
    // A listener has no position before it has read the history for the first time.
    await written('position', /position:node-listen:/);
    upload('a', 'b');
    await red.waitFor('listen', 'out', 2);
    assert.deepEqual(await bodiesRead(), ['a', 'b']);
    await written('position', /"id":"2"|"keys":\["[^"]+","[^"]+"\]/);
    await red.stop();
    upload('c', 'd');
    await again();
    await red.waitFor('listen', 'out', 2);
    assert.deepEqual(await emitted(), ['c', 'd']);
    assert.deepEqual(await bodiesRead(), ['c', 'd']);

    // Positions are written at most once a second: a kill before that would repeat these two.
    await written('position', /"id":"4"/);
    await written('mark', /"id":"4"/);
    process.kill(red.pid()!, 'SIGKILL');
    await until(() => simulator.channels(ONE) === 0, 'it is gone');
    upload('e', 'f');
    await again();
    await red.waitFor('listen', 'out', 2);
    assert.deepEqual(await emitted(), ['e', 'f']);
    assert.deepEqual(await bodiesRead(), ['e', 'f']);
  });

  it('holds no key and no address', async () => {
    await red.stop();
    const names = await readdir(folder());
    const files = names.filter((name) => name.endsWith('.json'));
    assert.deepEqual(files.sort(), ['mark.json', 'position.json']);
    const texts = await Promise.all(files.map((name) => readFile(join(folder(), name), 'utf8')));
    for (const secret of [simulator.appkey, simulator.baseUrl, '127.0.0.1'])
      for (const text of texts) assert.ok(!text.includes(secret));
    await again();
  });

  it('is set aside if it is torn, and without a folder nothing is kept: the log and the status say so', async () => {
    await red.stop();
    const file = join(folder(), 'position.json');
    await again(() => writeFile(file, '{"format":"device-cl'));
    await red.logged(/position\.json is not used: it is torn\. It is now called /);
    upload('g');
    await red.waitFor('listen', 'out');
    assert.deepEqual(await emitted(), ['g']);
    await red.stop();
    await again(async () => {
      await rm(join(red.userDir, 'device-cloud'), { recursive: true });
      await writeFile(join(red.userDir, 'device-cloud'), 'a file');
    });
    await red.logged(/State does not survive a restart, since .*device-cloud/);
    await until(
      async () =>
        (await red.results('listen', 'status')).at(-1)?.status?.text === 'status.not-kept',
      'the status says so',
    );
    upload('h');
    await red.waitFor('listen', 'out');
    assert.deepEqual(await emitted(), ['h']);
  });
});
