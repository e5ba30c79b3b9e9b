import assert from 'node:assert/strict';
import type { HistoryRewrite } from '../../src/simulator';
import { until } from '../tooling/until';
import { setTimeout as sleep } from 'node:timers/promises';
import { cloudApp, deploy, load, node } from './support/flow';
import { arrivedAt, emitted } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';

const CHIPID = '10000001';
const HOUR = 3_600_000;

/** Writes the times of a history five hours east of Beijing. */
const east: HistoryRewrite = (records) =>
  records.map((record) => {
    const { create_time } = record as { create_time: string };
    const time = Date.parse(`${create_time.replace(' ', 'T')}Z`) + 5 * HOUR;
    return {
      ...(record as object),
      create_time: new Date(time).toISOString().slice(0, 19).replace('T', ' '),
    };
  });

describe('the time zone of a history', () => {
  useNodeRed();

  it('survives a deploy of the application, although no positions are kept', async () => {
    const cloud = await startCloud({ interval: 0 });
    cloud.rewriteHistory(east);
    const readings = (): number =>
      cloud.requests.filter(({ path, status }) => path.includes('up_messages') && status === 200)
        .length;
    const opened = async (before: number): Promise<void> => {
      await until(
        () => cloud.channels(CHIPID) === 1 && readings() > before,
        'it is open, and has an answer',
      );
      // What arrives before the answer is looked at would disturb a first reading.
      await sleep(1500);
    };
    const flow = (name: string) => [
      cloudApp(cloud, { name }),
      node('listen', { devices: 'list', chipids: [CHIPID], recover: 'reconnect' }),
    ];
    const miss = async (text: string): Promise<number> => {
      cloud.disconnect(CHIPID);
      cloud.upload(CHIPID, text);
      await emitted(text);
      const message = arrivedAt('out').find(({ payload }) => payload === text);
      return Number(message?.['timestamp']) - Date.now();
    };
    await load(flow('before'));
    await opened(0);
    for (const text of ['live 1', 'live 2', 'live 3']) cloud.upload(CHIPID, text);
    await emitted('live 3');
    assert.ok(Math.abs(await miss('missed 1')) < HOUR);
    const before = readings();
    await deploy(flow('after'));
    await opened(before);
    cloud.upload(CHIPID, 'live 4');
    await emitted('live 4');
    assert.ok(Math.abs(await miss('missed 2')) < HOUR);
  });
});
