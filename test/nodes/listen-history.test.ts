import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { HistoryRewrite, Simulator } from '../../src/simulator';
import { until } from '../tooling/until';
import { openWithRecovery, PATIENCE } from './support/listening';
import { reversed } from './support/histories';
import { arrivedAt, emitted, logged, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

describe('a listener whose history is written in another form', () => {
  useNodeRed();
  let cloud: Simulator;
  const [one, two, three] = ['10000001', '10000002', '10000003'] as const;

  const lines = (part: RegExp): string[] => logged(part, 'listen');
  const readings = (chipid: string): number =>
    cloud.requests.filter(({ path }) => path.includes(`up_messages/dev/${chipid}`)).length;

  it('says it once for several devices, and as long as the history of one is not understood', async () => {
    cloud = await startCloud();
    const all = [one, two, three];
    await openWithRecovery(cloud, all);
    cloud.rewriteHistory(reversed);
    for (const chipid of all) {
      for (const n of [1, 2, 3]) cloud.upload(chipid, `${chipid}: ${n}`);
      await emitted(`${chipid}: 3`);
    }
    const before = all.map(readings);
    cloud.disconnect();
    await shows('listen', 'status.history-unclear');
    // A device says so of its third answer; then it asks for a fourth.
    const isJudged = (): boolean => all.every((chipid, n) => readings(chipid) > before[n]! + 3);
    await until(isJudged, 'the history of each is not understood', PATIENCE);
    assert.equal(lines(/are not recovered/).length, 1);
    cloud.rewriteHistory((records, chipid) =>
      chipid === one ? reversed(records, chipid) : records,
    );
    // By itself it is read less and less often.
    for (const chipid of [two, three]) cloud.disconnect(chipid);
    await until(() => lines(/contains what arrived live again/).length === 1, 'one is', PATIENCE);
    await until(() => cloud.channels() === 3, 'all channels are open', PATIENCE);
    await shows('listen', 'status.history-unclear');
    cloud.rewriteHistory();
    cloud.disconnect(one);
    await shows('listen', '3/3');
  });
});

const HOUR = 3_600_000;

/** Writes the times of a history five hours east of Beijing. */
const east: HistoryRewrite = (records) =>
  records.map((record) => {
    const { create_time } = record as { create_time: string };
    const time = Date.parse(`${create_time.replace(' ', 'T')}Z`) + 5 * HOUR;
    const written = new Date(time).toISOString().slice(0, 19).replace('T', ' ');
    return { ...(record as object), create_time: written };
  });

describe('the time zone of a history', () => {
  useNodeRed();

  it('survives a restart, although no positions are kept', async () => {
    const cloud = await startCloud();
    const chipid = '10000001';
    cloud.rewriteHistory(east);
    const missed = async (text: string): Promise<number> => {
      cloud.disconnect(chipid);
      cloud.upload(chipid, text);
      await emitted(text);
      return Number(arrivedAt('out').at(-1)?.['timestamp']);
    };
    await openWithRecovery(cloud, [chipid]);
    for (const text of ['live 1', 'live 2', 'live 3']) cloud.upload(chipid, text);
    await emitted('live 3');
    assert.ok(Math.abs((await missed('missed 1')) - Date.now()) < HOUR);
    await helper.unload();
    await openWithRecovery(cloud, [chipid]);
    cloud.upload(chipid, 'live 4');
    await emitted('live 4');
    assert.ok(Math.abs((await missed('missed 2')) - Date.now()) < HOUR);
  });
});
