import assert from 'node:assert/strict';
import { until } from '../../tooling/until';
import { listening, recovered } from './listening';
import { CHIPID, emitted, payloads, rowsOf, said, type Row } from './row';

const row = rowsOf('channel');
const LOST = 'opened again, what was missed comes from the history: once, in order';
const down = (reason: string): string => `\`the channel is down (${reason}).\``;

const closing = (code: number): Row =>
  row(`close code ${code}`, down(String(code)), LOST, async () => {
    const cloud = await listening();
    // In the same moment, so that the channel misses them.
    cloud.disconnect(CHIPID, code);
    for (const text of ['missed 1', 'missed 2']) cloud.upload(CHIPID, text);
    await recovered(cloud, ['missed 1', 'missed 2']);
    return said();
  });

const silence = row('half-open silence', down('SILENT'), LOST, async () => {
  const cloud = await listening({ ping: 0.1 });
  const heal = cloud.fail('silence');
  for (const text of ['missed 1', 'missed 2']) cloud.upload(CHIPID, text);
  await until(() => said().includes('SILENT'), 'it is given up');
  heal();
  await recovered(cloud, ['missed 1', 'missed 2']);
  return said();
});

const flapping = row('flapping every 100 ms', down('1006'), LOST, async () => {
  const cloud = await listening();
  const expected = payloads();
  const upload = (): void => {
    const text = `upload ${expected.length}`;
    expected.push(text);
    cloud.upload(CHIPID, text);
  };
  const opened = () => cloud.requests.filter(({ path }) => path === '/noticed/peer').length;
  const uploads = setInterval(upload, 20);
  const flaps = setInterval(() => cloud.disconnect(CHIPID, 1006), 100);
  try {
    await until(() => opened() >= 3, 'it was opened thrice');
    clearInterval(flaps);
    await until(() => cloud.channels(CHIPID) === 1, 'it is open');
  } finally {
    clearInterval(flaps);
    clearInterval(uploads);
  }
  upload();
  await emitted(expected.at(-1));
  assert.deepEqual(payloads(), expected);
  return said();
});

export const CHANNEL_LIFE: readonly Row[] = [
  silence,
  ...[1000, 1001, 1006, 1008, 1011, 1012, 1013].map(closing),
  flapping,
];
