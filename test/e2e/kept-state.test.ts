import assert from 'node:assert/strict';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { ONE, TWO } from './harness/devices';
import { around, buffer } from './harness/flows';
import { useWorld, type World } from './harness/world';

/** What is kept, by the names of its files. */
async function keptBy({ red }: World): Promise<Record<string, string>> {
  const folder = join(red.userDir, 'device-cloud', 'app');
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'));
  const texts = names.map((name) => readFile(join(folder, name), 'utf8').catch(() => ''));
  return Object.fromEntries((await Promise.all(texts)).map((text, at) => [names[at]!, text]));
}

describe('what a Node-RED with default settings keeps over a restart', () => {
  const here = useWorld((simulator) => [
    app(simulator),
    ...around('listen', node('listen', { chipids: [ONE], recover: 'restart' })),
    ...around('history', node('history', { incremental: true })),
  ]);
  const upload = (...bodies: string[]): void => {
    for (const body of bodies) here.simulator.upload(ONE, body);
  };
  const isOpen = (): Promise<void> =>
    until(() => here.simulator.channels(ONE) === 1, 'the channel is open');
  const again = async (): Promise<void> => {
    await here.again();
    await isOpen();
  };
  /** Each of these uploads is emitted once, and read once. */
  const arrive = async (...bodies: string[]): Promise<void> => {
    const emitted = await here.red.waitFor('listen', 'out', bodies.length);
    assert.deepEqual(
      emitted.map(({ payload }) => payload),
      bodies,
    );
  };
  const areRead = async (...bodies: string[]): Promise<void> => {
    const { sent } = await here.red.ask('history', { chipid: ONE });
    const records = sent[0]!.payload as { body: string }[];
    assert.deepEqual(
      records.map(({ body }) => body),
      bodies,
    );
  };
  const written = (kind: 'mark' | 'position', text: RegExp): Promise<void> =>
    until(
      async () => text.test((await keptBy(here))[`${kind}.json`] ?? ''),
      `the ${kind} has ${text.source}`,
    );

  before(isOpen);

  it('is the position of each device and the marks of histories, over a stop and over a kill', async () => {
    // A listener has no position before it has read the history for the first time.
    await written('position', /position:node-listen:/);
    upload('a', 'b');
    await arrive('a', 'b');
    await areRead('a', 'b');
    await written('position', /"id":"2"|"keys":\["[^"]+","[^"]+"\]/);
    await here.red.stop();
    upload('c', 'd');
    await again();
    await arrive('c', 'd');
    await areRead('c', 'd');

    // Positions are written at most once a second: a kill before that would repeat these two.
    await written('position', /"id":"4"/);
    await written('mark', /"id":"4"/);
    await here.kill();
    upload('e', 'f');
    await again();
    await arrive('e', 'f');
    await areRead('e', 'f');
  });

  it('holds no key and no address', async () => {
    await here.red.stop();
    const files = await keptBy(here);
    assert.deepEqual(Object.keys(files).sort(), ['mark.json', 'position.json']);
    for (const secret of [here.simulator.appkey, here.simulator.baseUrl, '127.0.0.1'])
      for (const text of Object.values(files)) assert.ok(!text.includes(secret));
    await again();
  });

  it('is set aside if it is torn, and without a folder nothing is kept: the log and the status say so', async () => {
    const folder = join(here.red.userDir, 'device-cloud');
    await here.red.stop();
    await writeFile(join(folder, 'app', 'position.json'), '{"format":"device-cl');
    await again();
    await here.red.logged(/position\.json is not used: it is torn\. It is now called /);
    upload('g');
    await arrive('g');
    await here.red.stop();
    await rm(folder, { recursive: true });
    await writeFile(folder, 'a file');
    await again();
    await here.red.logged(/State does not survive a restart, since .*device-cloud/);
    const isShown = async (): Promise<boolean> => {
      const statuses = await here.red.results('listen', 'status');
      return statuses.at(-1)?.status?.text === 'status.not-kept';
    };
    await until(isShown, 'the status says so');
    upload('h');
    await arrive('h');
  });
});

describe('commands that wait when Node-RED is killed', () => {
  const here = useWorld(
    (simulator) => [app(simulator), ...around('push', node('push', { when: 'upload' }))],
    { offlineAfter: 100 },
  );
  /** Resolves once a command is in its file, with the service's time: without it, a restart ends it. */
  const kept = (text: string): Promise<void> =>
    until(async () => {
      const texts = Object.values(await keptBy(here));
      return texts.some((each) => each.includes(text) && !each.includes('"at":null'));
    }, `${text} is written down`);
  const texts = (chipid: string) => here.simulator.device(chipid).received.map(({ text }) => text);
  const listensTo = (...chipids: string[]): Promise<void> =>
    until(
      () => chipids.every((chipid) => here.simulator.channels(chipid) === 1),
      `it listens to ${chipids.join()}`,
    );

  it('are sent once, in order, and leave as new messages; one that had begun is uncertain and never sent again', async () => {
    const { simulator } = here;
    const wait = (chipid: string, payload: string): Promise<void> =>
      here.red.inject('push', { chipid, payload, topic: payload, data: buffer('00ff') });
    for (const payload of ['a', 'b']) await wait(ONE, payload);
    for (const text of ['"a"', '"b"']) await kept(text);
    await listensTo(ONE);
    simulator.fail('hang', { chipid: TWO, acts: true });
    for (const payload of ['begun', 'behind']) await wait(TWO, payload);
    await kept('"behind"');
    await listensTo(TWO);
    simulator.upload(TWO, 'awake');
    await until(() => texts(TWO).length === 1, 'the first has reached it');

    await here.kill();
    simulator.heal();
    await here.again();

    const [error] = await here.red.waitFor('push', 'error');
    const { topic, uncertain, chipid, error: cause } = error!;
    assert.deepEqual([topic, uncertain, chipid, cause?.code], ['begun', true, TWO, 'TIMEOUT']);
    await listensTo(ONE, TWO);
    await wait(ONE, 'c');
    await kept('"c"');
    simulator.upload(ONE, 'awake');
    simulator.upload(TWO, 'awake');
    const sent = await here.red.waitFor('push', 'out', 4);
    assert.deepEqual(texts(ONE), ['a', 'b', 'c']);
    assert.deepEqual(texts(TWO), ['begun', 'behind']);
    assert.deepEqual(sent.map((msg) => msg['topic']).sort(), ['a', 'b', 'behind', 'c']);
    const first = sent.find((msg) => msg['topic'] === 'a')!;
    assert.deepEqual(
      [first.payload, first['data'], first['chipid']],
      [{ msg: 'OK' }, { $buffer: '00ff' }, ONE],
    );
  });
});
