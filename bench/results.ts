import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { cpus, loadavg } from 'node:os';
import { dirname, join } from 'node:path';
import type { Result, Row, Scenario } from './scenario';
import { repository } from '../test/tooling/repository';

/* What a run has measured, as it stands in a file: one a scenario, so that each can be measured again alone. */

/** Where and when something was measured. */
export interface Setting {
  date: string;
  commit: string;
  node: string;
  nodeRed: string;
  cpu: string;
  /** Processes that were running or waiting, on average of the last minutes, and the cores for them. */
  load: number;
  cores: number;
}

/** A scenario that was measured, and on what. */
export interface Measured extends Result {
  setting: Setting;
}

function git(...args: string[]): string {
  return execFileSync('git', args, { cwd: repository, encoding: 'utf8' }).trim();
}

/** The version that is measured. What is recorded of it is no change of it. */
function commit(): string {
  try {
    const changed = git('status', '--porcelain', '--', '.', ':!bench/results', ':!docs');
    return git('rev-parse', '--short', 'HEAD') + (changed === '' ? '' : '-dirty');
  } catch {
    return 'unknown';
  }
}

export function readSetting(): Setting {
  const { length: cores, 0: cpu } = cpus();
  const { version } = createRequire(__filename)('node-red/package.json') as { version: string };
  return {
    date: new Date().toISOString().slice(0, 10),
    ...{ commit: commit(), node: process.versions.node, nodeRed: version },
    ...{ cpu: cpu?.model.trim() ?? '', load: Math.round(loadavg()[1] ?? 0), cores },
  };
}

export const settingText = (setting: Setting): string => {
  const { date, node, nodeRed, cpu, load, cores } = setting;
  return `${date}, commit ${setting.commit}, Node.js ${node}, Node-RED ${nodeRed}, ${cores} cores of ${cpu}, load ${load}`;
};

const RECORDED = join(repository, 'bench', 'results');

const fileOf = ({ name }: Scenario): string => join(RECORDED, `${name}.json`);

export function writeResult({ scenario, rows, setting }: Measured): void {
  const file = fileOf(scenario);
  mkdirSync(dirname(file), { recursive: true });
  const digits = (_: string, value: unknown): unknown =>
    typeof value === 'number' ? Number(value.toPrecision(6)) : value;
  writeFileSync(file, `${JSON.stringify({ setting, rows }, digits)}\n`);
}

/** The results of the scenarios that were recorded, in their order. */
export const readResults = (scenarios: readonly Scenario[]): Measured[] =>
  scenarios.flatMap((scenario) => {
    const file = fileOf(scenario);
    if (!existsSync(file)) return [];
    const { setting, rows } = JSON.parse(readFileSync(file, 'utf8')) as {
      setting: Setting;
      rows: Row[];
    };
    return [{ scenario, setting, rows }];
  });
