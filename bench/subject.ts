import type { Job } from './scenario';
import { scenariosOf } from './scenarios';
import { ServiceClient, type Addresses } from './service/client';

/* The process of a subject: measures one scenario once, and reports the values. */

/** What it is started with. */
export interface SubjectSettings extends Omit<Job, 'service'> {
  scenario: string;
  addresses: Addresses;
}

async function main(settings: SubjectSettings): Promise<void> {
  const found = scenariosOf(settings.plan).find(({ name }) => name === settings.scenario);
  if (!found) throw new Error(`There is no scenario ${settings.scenario}.`);
  process.send?.(
    await found.measure({ ...settings, service: new ServiceClient(settings.addresses) }),
  );
}

// It ends when it is let go of, or with the process that has started it.
process.once('disconnect', () => process.exit());
void main(JSON.parse(process.argv[2] ?? '{}') as SubjectSettings);
