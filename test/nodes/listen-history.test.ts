import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { until } from '../tooling/until';
import { openWithRecovery, PATIENCE } from './support/listening';
import { asThePublicServer, reversed } from './support/histories';
import { journal } from './support/journal';
import { arrivedAt, emitted, payloads, shows, statusesOf } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('a listener whose history is written in another form', () => {
  useNodeRed();
  let cloud: Simulator;
  const [one, two, three] = ['10000001', '10000002', '10000003'] as const;

  const lines = (part: string): string[] =>
    journal.logs
      .filter(({ id }) => id === 'listen')
      .map(({ msg }) => String(msg))
      .filter((line) => line.includes(part));
  const readings = (chipid: string): number =>
    cloud.requests.filter(({ path }) => path.includes(`up_messages/dev/${chipid}`)).length;

  async function uploadAll(chipid: string, texts: string[], last = texts.at(-1)!): Promise<void> {
    for (const text of texts) cloud.upload(chipid, text);
    await emitted(last);
  }

  it('marks each recovered upload as altered', async () => {
    cloud = await startCloud();
    cloud.rewriteHistory(asThePublicServer);
    await openWithRecovery(cloud, [one]);
    await uploadAll(one, ['t=1,h=1\r\n', 't=2,h=2\r\n', 't=3,h=3\r\n']);
    cloud.disconnect(one);
    await uploadAll(one, ['{"t":21,"h":40}'], '"h":40}');
    const marks = arrivedAt('out').map(({ replayed, altered }) => [replayed, altered]);
    assert.deepEqual(marks, [...Array<unknown>(3).fill([undefined, undefined]), [true, true]]);
  });

  it('says that nothing is recovered, in the status and once in the log, until it can be', async () => {
    cloud = await startCloud();
    await openWithRecovery(cloud, [one]);
    cloud.rewriteHistory(reversed);
    await uploadAll(one, ['t=21.1', 't=21.2', 't=21.3']);
    cloud.disconnect(one);
    cloud.upload(one, 'missed');
    await shows('listen', 'status.history-unclear');
    const unclear = { fill: 'yellow', shape: 'dot', text: 'status.history-unclear' };
    assert.deepEqual(statusesOf('listen').at(-1), unclear);
    const before = readings(one);
    await uploadAll(one, ['live']);
    await until(() => readings(one) > before, 'it is read again', PATIENCE);
    assert.deepEqual(payloads(), ['t=21.1', 't=21.2', 't=21.3', 'live']);
    assert.equal(lines('are not recovered').length, 1);
    assert.match(lines('are not recovered')[0] ?? '', /an upload was "t=21\.\d"/);

    cloud.rewriteHistory();
    await emitted('missed');
    await shows('listen', 'status.connected');
    assert.equal(lines('contains what arrived live again').length, 1);
    assert.equal(payloads().filter((payload) => payload === 'missed').length, 1);
  });

  it('says it once for several devices, and as long as the history of one is not understood', async () => {
    cloud = await startCloud();
    const all = [one, two, three];
    await openWithRecovery(cloud, all);
    cloud.rewriteHistory(reversed);
    for (const chipid of all)
      await uploadAll(
        chipid,
        [1, 2, 3].map((n) => `${chipid}: ${n}`),
      );
    const before = all.map(readings);
    cloud.disconnect();
    await shows('listen', 'status.history-unclear');
    // A device says so of its third answer; then it asks for a fourth.
    const isJudged = (): boolean => all.every((chipid, n) => readings(chipid) > before[n]! + 3);
    await until(isJudged, 'the history of each is not understood', PATIENCE);
    assert.equal(lines('are not recovered').length, 1);
    cloud.rewriteHistory((records, chipid) =>
      chipid === one ? reversed(records, chipid) : records,
    );
    // By itself it is read less and less often.
    for (const chipid of [two, three]) cloud.disconnect(chipid);
    await until(() => lines('contains what arrived live again').length === 1, 'one is', PATIENCE);
    await until(() => cloud.channels() === 3, 'all channels are open', PATIENCE);
    await shows('listen', 'status.history-unclear');
    cloud.rewriteHistory();
    cloud.disconnect(one);
    await shows('listen', '3/3');
  });
});
