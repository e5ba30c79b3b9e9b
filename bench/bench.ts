import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { repository } from '../test/support/repository';
import { readOptions, type Options } from './options';
import type { Plan } from './plan';
import { startChild } from './process/child';
import { channelsAllowed } from './process/limits';
import { baselineOf, compare, type Baseline } from './report/baseline';
import { recordDocuments } from './report/documents';
import { checksText, resultsText, tableText } from './report/markdown';
import { plot } from './report/plot';
import type { Results, Setting, Table } from './report/results';
import type { ServiceMethods } from './service/service';
import { worksOf, type Work } from './works/works';

/* `npm run bench`: see docs/performance.md. */

const BASELINE = join(repository, 'bench', 'baseline.json');

const json = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));
const version = (folder: string): string =>
  (json(join(folder, 'package.json')) as { version: string }).version;

function failed(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}

function settingOf({ plan }: Options): Setting {
  return {
    date: new Date().toISOString().slice(0, 10),
    plan: plan.name,
    package: version(repository),
    node: process.version,
    nodeRed: version(join(repository, 'node_modules', 'node-red')),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
  };
}

async function measureOne(work: Work, plan: Plan): Promise<Table> {
  // Afresh for each work, so that none inherits another's connections.
  const service = startChild<ServiceMethods>('service/service');
  try {
    const addresses = await service.ask('addresses');
    return await work.measure({ plan, service, ...addresses });
  } finally {
    await service.end();
  }
}

async function measure(options: Options): Promise<Results> {
  const plan = {
    ...options.plan,
    channels: channelsAllowed(options.plan.channels, console.log),
    devices: options.plan.devices.map((devices) => channelsAllowed(devices, console.log)),
  };
  const wanted = ({ name }: Work): boolean =>
    options.only.length === 0
      ? !plan.without.includes(name)
      : options.only.some((start) => name.startsWith(start));
  const chosen = worksOf(plan).filter(wanted);
  if (chosen.length === 0) throw new Error(`No work begins with ${options.only.join(' or ')}.`);
  const results: Results = { setting: settingOf(options), tables: [], checks: [] };
  for (const work of chosen) {
    console.error(work.name);
    try {
      const table = await measureOne(work, plan);
      results.tables.push(table);
      results.checks.push(...work.check(table));
      console.log(`\n${tableText(table)}\n`);
    } catch (error) {
      // What took half an hour is not thrown away for one of many works.
      console.error(`${work.name} has failed.`);
      failed(error);
    }
  }
  return results;
}

function write(folder: string, name: string, text: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), text);
}

/** @param isPart whether the works that were not measured keep what was recorded of them */
function recordBaseline({ checks }: Results, isPart: boolean): void {
  const earlier = isPart && existsSync(BASELINE) ? (json(BASELINE) as Baseline) : {};
  const baseline: Baseline = { ...earlier, ...baselineOf(checks) };
  write(dirname(BASELINE), 'baseline.json', `${JSON.stringify(baseline, null, 2)}\n`);
}

/** Says how the ratios stand to those that are kept. @returns whether one is worse */
function holdAgainstBaseline({ checks }: Results): boolean {
  if (!existsSync(BASELINE)) throw new Error(`${BASELINE} is missing: --quick --record makes it.`);
  const baseline = json(BASELINE) as Baseline;
  const compared = checks.flatMap((check) => compare(check, baseline) ?? []);
  console.log('\n### Against bench/baseline.json\n');
  for (const { text } of compared) console.log(`- ${text}`);
  return compared.some(({ worse }) => worse);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const results = await measure(options);
  if (results.tables.length === 0) throw new Error('Nothing was measured.');
  const isPart = options.only.length > 0 || process.exitCode === 1;
  console.log(`\n${checksText(results.checks)}`);
  const folder = join(repository, '.cache', 'bench', options.plan.name);
  write(folder, 'results.json', JSON.stringify(results, null, 2));
  write(folder, 'results.md', resultsText(results));
  write(folder, 'performance.svg', plot(results));
  console.log(`\nWritten to ${folder}: results.md, results.json, performance.svg.`);
  if (options.plan.name === 'quick') {
    if (options.record) recordBaseline(results, isPart);
    else if (holdAgainstBaseline(results)) process.exitCode = 1;
  } else if (options.record) recordDocuments(results, isPart);
}

process.once('SIGINT', () => process.exit(130));
main()
  .catch(failed)
  // Whatever a failure has left running ends with this process.
  .finally(() => process.exit());
