import { readOptions, type SoakOptions } from './options';
import { soak, type Outcome } from './run';
import { megabytes, number, seconds, table } from '../tooling/table';

const LOG_LINES = 40;

const IS_LATE = /missed uploads will come late/;

/** Minutes for what comes before and after the time that was asked for; a soak that takes longer hangs. */
const AROUND = 6;

const peak = (values: readonly number[]): number => values.reduce((a, b) => Math.max(a, b), 0);

/** With kills, what had been emitted after the last write may come twice; without, nothing may. */
const isGood = ({
  lost,
  doubled,
  outOfOrder,
  mismarked,
  unwritten,
  quiet,
  fleet,
}: Outcome): boolean =>
  quiet &&
  lost === 0 &&
  outOfOrder === 0 &&
  mismarked === 0 &&
  doubled <= unwritten &&
  fleet.wrong.length === 0;

function print(options: SoakOptions, outcome: Outcome): void {
  const { minutes, devices, rate, seed, isPublic, kill } = options;
  const { report, usage } = outcome;
  const result: [string, string][] = [
    ['uploads accepted', number(outcome.accepted)],
    ['emitted', number(outcome.emitted)],
    ['recovered (`replayed`)', number(outcome.recovered)],
    ['**lost**', number(outcome.lost)],
    ['**doubled**', number(outcome.doubled)],
    ['out of order', number(outcome.outOfOrder)],
    // Live uploads do not wait for longer than 60 s or five failures (rule 16).
    ['missed ones were said to come late', IS_LATE.test(outcome.log) ? 'yes' : 'no'],
    ['**altered without the mark, or marked without a reason**', number(outcome.mismarked)],
  ];
  const { fleet } = outcome;
  const things: [string, string][] = [
    ['requests', number(fleet.requests)],
    ['of them replied to', number(fleet.replied)],
    ['commands that waited', number(fleet.held)],
    ['of them sent', number(fleet.sent)],
    ['`online` and `offline`', number(fleet.presence)],
    ['`unknown` and `known`', number(fleet.unknown)],
    ['**settled not once, acted twice, or wrong presence**', number(fleet.wrong.length)],
  ];
  const killed: [string, string][] = [
    ['Node-RED killed', number(outcome.kills)],
    ['emitted after the last write before a kill', number(outcome.unwritten)],
  ];
  const rest: [string, string][] = [
    ['histories read', number(report.readings)],
    ['of them with bad records', number(report.spoilt)],
    ['channels open, of the time', `${(100 * report.connected).toFixed(0)} %`],
    ['longest delay', seconds(outcome.longestDelay)],
    ['peak memory of Node-RED', megabytes(peak(usage.map(({ rss }) => rss)))],
    ['of it heap', megabytes(peak(usage.map(({ heap }) => heap)))],
  ];
  const dialect = isPublic ? ', public dialect' : '';
  const title = `${minutes} min, ${devices} devices, ${rate}/s, seed ${seed}${dialect}`;
  console.log(`\n${table(title, [...result, ...things, ...(kill ? killed : []), ...rest])}\n`);
  const troubles = Object.entries(report.troubles).map(
    ([name, count]) => [name, number(count)] as const,
  );
  console.log(table('trouble', troubles));
  if (isGood(outcome)) return;
  console.log(`\nNode-RED's log:\n${outcome.log.split('\n').slice(-LOG_LINES).join('\n')}`);
  for (const example of [...outcome.examples, ...fleet.wrong.slice(0, LOG_LINES)])
    console.log(example);
  if (!outcome.quiet) console.log('It had not come to rest when the time was up.');
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const limit = (options.minutes + AROUND) * 60_000;
  setTimeout(() => process.exit(1), limit).unref();
  const outcome = await soak(options);
  print(options, outcome);
  process.exitCode = isGood(outcome) ? 0 : 1;
}

// Whatever was started ends with this process.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
main()
  .catch((error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  })
  // Whatever a failure has left running ends with this process.
  .finally(() => process.exit());
