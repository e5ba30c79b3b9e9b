import { megabytes, number, seconds, table } from '../../../tooling/table';
import { ALL, LEASE, readClusterOptions, type ClusterOptions } from './options';
import { writeRow } from './page';
import { runNone } from './none';
import { atMost, type Result } from './result';
import type { Measured, Row } from './row';
import { ROWS } from './rows';
import { runRow } from './run';
import { percentile } from './takeover';

const LOG_LINES = 30;

/** Minutes for what comes before and after a row; a run that takes longer hangs. */
const AROUND = 8;

function resultOf(measured: Measured): Result {
  const { row, minutes, accepted, lost, doubled, outOfOrder, load } = measured;
  const rest = atMost('things that had not come to rest', measured.quiet ? 0 : 1, 0);
  return {
    ...{ title: row.title, minutes, load },
    ...{ uploads: number(accepted), lost: number(lost), doubled: number(doubled) },
    goals: [
      atMost('lost', lost, 0),
      atMost('out of order', outOfOrder, 0),
      ...row.goals(measured),
      ...(measured.quiet ? [] : [rest]),
    ],
  };
}

function print(measured: Measured): void {
  const { row, minutes, lease, takeovers, fleet, usage, load } = measured;
  const rows: [string, string][] = [
    ['uploads accepted', number(measured.accepted)],
    ['emitted, by process', measured.shares.map(number).join(' + ')],
    ['recovered (`replayed`)', number(measured.recovered)],
    ['troubles', number(measured.troubles)],
    ['doubled', number(measured.doubled)],
    ['takeovers', number(takeovers.times.length)],
    ['takeover, median', seconds(percentile(takeovers.times, 0.5))],
    ['takeover, p95', seconds(percentile(takeovers.times, 0.95))],
    ['takeover, longest', seconds(takeovers.times.at(-1) ?? 0)],
    ['longest delay', seconds(measured.longestDelay)],
    ['channels opened again', number(measured.reopened)],
    ['commands', number(measured.atOnce.calls)],
    ['requests, replied to', `${number(fleet.requests)}, ${number(fleet.replied)}`],
    ['pushes that waited, sent', `${number(fleet.held)}, ${number(fleet.sent)}`],
    ['acknowledged', number(measured.acknowledged)],
    ['peak memory of Redis', megabytes(usage?.memory ?? 0)],
    ['its commands a second', number(Math.round(usage?.commandsPerSecond ?? 0))],
    ['load before', load.toFixed(1)],
  ];
  const title = `${row.name}: ${row.title}; ${minutes} min, ${row.devices} devices, ${row.rate}/s, lease ${lease} s`;
  console.log(`\n${table(title, rows)}\n`);
}

const isGood = ({ goals }: Result): boolean => goals.every(({ isReached }) => isReached);

function printGoals({ title, goals }: Result): void {
  console.log(title);
  for (const { name, measured: value, limit, isReached } of goals) {
    console.log(`${isReached ? 'reached' : 'MISSED '}  ${name}: ${value} (${limit})`);
  }
}

function explain(measured: Measured): void {
  for (const line of [...measured.examples, ...measured.fleet.wrong.slice(0, LOG_LINES)])
    console.log(line);
  if (!measured.quiet) console.log('It had not come to rest when the time was up.');
  measured.logs.forEach((log, index) => {
    const lines = log.split('\n').slice(-LOG_LINES).join('\n');
    console.log(`\nThe log of process ${index}:\n${lines}`);
  });
}

/** @returns what the row gave, and whether it was run as the goals mean it */
async function run(row: Row, options: ClusterOptions): Promise<[Result, isWhole: boolean]> {
  const { lease, seed, library } = options;
  const minutes = options.minutes ?? row.minutes;
  const measured = await runRow({ row, minutes, lease, seed, library });
  print(measured);
  const result = resultOf(measured);
  if (!isGood(result)) explain(measured);
  return [result, minutes >= row.minutes && lease === LEASE];
}

/** Runs the rows one after the other. @returns whether each of them has reached what it was to reach */
export async function soakCluster(args: string[]): Promise<boolean> {
  const options = readClusterOptions(args);
  const titles = ALL.map(({ title }) => title);
  const longest = options.minutes ?? Math.max(...ROWS.map(({ minutes }) => minutes));
  let isReached = true;
  for (const row of options.rows) {
    const limit = setTimeout(() => process.exit(1), (longest + AROUND) * 60_000);
    const [result, isWhole] = 'trouble' in row ? await run(row, options) : [await runNone(), true];
    clearTimeout(limit);
    printGoals(result);
    if (isWhole && options.record) writeRow(titles, result);
    isReached &&= isGood(result);
  }
  return isReached;
}
