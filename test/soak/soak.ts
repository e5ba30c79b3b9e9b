import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { FAILOVERS, faultsOf, killAgain, lifeOf, SETTLE } from './faults';
import { judge } from './judge';
import { createDice, startTrouble } from './trouble';
import { World } from './world';

/*
 * One Node-RED that meets trouble of every kind, at random: `npm run soak -- --minutes 2 --devices 50 --rate 300`. A `--seed` repeats
 * uploads and trouble; `--dialect public-2016`: the service answers as the public server did; `--kill`: Node-RED is killed at random
 * moments.
 *
 * Or several that share devices on one Redis, and one fault after another: `npm run soak -- --processes 3 --devices 600 --rate 100`.
 * `--only` chooses faults by a part of their names; `--replace`: the service closes a channel when another one of its device is opened;
 * `--sentinel`: a replica takes over when Redis is killed; `--kills`: how many short lives of a process there are; `--waiting`: commands
 * that wait for their device, a second in each process. `--processes 3 --only again --devices 60 --rate 20 --waiting 5 --kills 200`
 * kills between emission and acknowledgement, with commands that wait.
 *
 * At the end it prints what was lost, doubled or out of order, and for how long uploads were late.
 */

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '2' },
    devices: { type: 'string', default: '50' },
    rate: { type: 'string', default: '300' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    dialect: { type: 'string', default: 'document' },
    kill: { type: 'boolean', default: false },
    processes: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    kills: { type: 'string', default: '10' },
    waiting: { type: 'string', default: '1' },
    replace: { type: 'boolean', default: false },
    sentinel: { type: 'boolean', default: false },
  },
});

const LOG_LINES = 40;
/** There may be many processes, one after the other. */
const PROCESSES = 50;

/** Prints names and values in two columns, as they can stand in a document. */
function table(title: string, rows: readonly (readonly [name: string, value: string])[]): string {
  const width = Math.max(title.length, ...rows.map(([name]) => name.length));
  // Two at least, for the colon that aligns a column needs a dash beside it.
  const right = Math.max(2, ...rows.map(([, value]) => value.length));
  const line = (name: string, value: string): string =>
    `| ${name.padEnd(width)} | ${value.padStart(right)} |`;
  return [
    line(title, ''),
    `| ${'-'.repeat(width)} | ${'-'.repeat(right - 1)}: |`,
    ...rows.map(([name, value]) => line(name, value)),
  ].join('\n');
}

const number = (value: number): string => value.toLocaleString('en-US');

/** One fault after another. */
async function meetFaults(world: World): Promise<void> {
  const faults = values.sentinel ? FAILOVERS : faultsOf(Number(values.kills));
  for (const [name, run] of Object.entries(faults)) {
    if (!name.includes(values.only)) continue;
    console.log(`${new Date().toISOString().slice(11, 19)} ${name}`);
    world.fault = name;
    await run(world);
    await sleep(SETTLE);
    await world.allLive();
  }
}

/** Trouble of every kind at once. */
async function meetTrouble(world: World): Promise<void> {
  const end = Date.now() + Number(values.minutes) * 60_000;
  world.fault = `trouble for ${values.minutes} min, seed ${values.seed}`;
  const stop = startTrouble(world, values.seed);
  const life = lifeOf(createDice(`${values.seed} kills`));
  if (values.kill) await killAgain(world, [0], () => Date.now() > end, life);
  else await sleep(end - Date.now());
  const rows = [...(await stop())].map(([name, count]) => [name, number(count)] as const);
  console.log(`\n${table('trouble', rows)}`);
}

async function main(): Promise<void> {
  const world = await World.start({
    devices: Number(values.devices),
    rate: Number(values.rate),
    processes: Number(values.processes),
    waiting: Number(values.waiting),
    isPublic: values.dialect === 'public-2016',
    replace: values.replace,
    sentinel: values.sentinel,
  });
  try {
    await (world.isShared ? meetFaults(world) : meetTrouble(world));
    const isQuiet = await world.comesToRest();
    const { tables, wrong, isGood } = judge(world);
    for (const [title, counts] of tables) {
      const rows = Object.entries(counts).map(([what, count]) => [what, number(count)] as const);
      console.log(`\n${table(title, rows)}`);
    }
    if (!isQuiet) console.log('\nIt had not come to rest when the time was up.');
    if (!isGood || !isQuiet) {
      console.log(
        `\nThe log of Node-RED:\n${world
          .log()
          .split('\n')
          .slice(-LOG_LINES * PROCESSES)
          .join('\n')}`,
      );
      console.log(wrong.slice(0, LOG_LINES).join('\n'));
    }
    process.exitCode = isGood && isQuiet ? 0 : 1;
  } finally {
    await world.end();
  }
}

// Whatever was started ends with this process.
process.once('SIGINT', () => process.exit(130));
process.once('SIGTERM', () => process.exit(143));
main()
  .catch((error: unknown) => {
    console.error(error);
    process.exitCode = 1;
  })
  .finally(() => process.exit());
