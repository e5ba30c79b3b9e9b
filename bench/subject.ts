import { once } from 'node:events';
import type { Job, Values } from './scenario';
import { scenariosOf } from './scenarios';
import { ServiceClient, type Addresses } from './service/client';
import { summarize } from './statistics';

/* The process of a subject: measures one scenario once, and reports the values. */

/** What it is started with. */
export interface SubjectSettings extends Omit<Job, 'service' | 'repeat'> {
  scenario: string;
  addresses: Addresses;
}

/** What it says: that it waits for its turn, or the values. */
export type Message = 'ready' | Values;

async function slices(count: number, measure: () => Promise<Values>): Promise<Values> {
  const all: Values[] = [];
  while (all.length < count) {
    process.send?.('ready' satisfies Message);
    await once(process, 'message');
    all.push(await measure());
  }
  const median = (key: string): number => summarize(all.map((each) => each[key] ?? NaN)).median;
  return Object.fromEntries(Object.keys(all[0] ?? {}).map((key) => [key, median(key)]));
}

async function main(settings: SubjectSettings): Promise<void> {
  const { scenario, plan, addresses } = settings;
  const found = scenariosOf(plan).find(({ name }) => name === scenario);
  if (!found) throw new Error(`There is no scenario ${scenario}.`);
  const repeat: Job['repeat'] = (measure) =>
    plan.slices === 1 ? measure() : slices(plan.slices, measure);
  const job = { ...settings, service: new ServiceClient(addresses), repeat };
  process.send?.((await found.measure(job)) satisfies Message);
}

// It ends when it is let go of, or with the process that has started it.
process.once('disconnect', () => process.exit());
void main(JSON.parse(process.argv[2] ?? '{}') as SubjectSettings);
