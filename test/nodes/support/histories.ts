import type { HistoryRewrite, Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { keptOf } from '../../src/recovery/history';
import { emitted } from './messages';

/** A history whose bodies are written in another way. */
const written =
  (write: (body: string) => string): HistoryRewrite =>
  (records) =>
    records.map((record) => {
      const { body } = record as { body: string };
      return { ...record, body: write(body) };
    });

/** As nobody writes a history. */
export const reversed = written((body) => [...body].reverse().join(''));
export const trimmed = written((body) => keptOf(body, 'trimmed'));

/** Uploads what shows a listener with recovery that the history lacks line ends, the last while its channel is down. */
export async function learnForm(cloud: Simulator, chipid: string): Promise<void> {
  for (const text of ['one\r\n', 'two\r\n', 'three\r\n']) cloud.upload(chipid, text);
  await emitted('three\r\n');
  cloud.disconnect(chipid);
  cloud.upload(chipid, 'learned\r\n');
  await emitted('learned');
  await until(() => cloud.channels(chipid) > 0, 'the channel is open again');
}
