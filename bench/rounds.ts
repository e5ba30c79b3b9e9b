import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { certificate, repository } from './identity';
import type { Plan } from './plan';
import type { Row, Scenario, Subject, Values } from './scenario';
import { startService } from './service/service';
import type { SubjectSettings } from './subject';

/** A subject, and the folder of the package that it uses: the repository unless another is given. */
export interface Entry extends Subject {
  packageFolder?: string;
}

/** Milliseconds that no subject needs. */
const TIMEOUT = 600_000;

/** Loopback alone, and the certificate of the service. */
const ENVIRONMENT = {
  HTTP_PROXY: undefined,
  HTTPS_PROXY: undefined,
  http_proxy: undefined,
  https_proxy: undefined,
  NODE_V8_COVERAGE: undefined,
  NODE_EXTRA_CA_CERTS: certificate('cert'),
};

/** A subject has ended without a result; why, it has printed. */
export class SubjectFailed extends Error {
  constructor(readonly entry: Entry) {
    super(`${entry.label} has ended without a result.`);
  }
}

/** Measures one subject once, in a process of its own. @throws SubjectFailed */
async function runSubject(
  entry: Entry,
  settings: SubjectSettings,
  flags: string[],
): Promise<Values> {
  const child = fork(join(__dirname, 'subject.js'), [JSON.stringify(settings)], {
    cwd: repository,
    env: { ...process.env, ...ENVIRONMENT },
    execArgv: ['--expose-gc', '--enable-source-maps', ...flags],
    stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
    timeout: TIMEOUT,
  });
  const exited = once(child, 'exit');
  const failed = exited.then(() => {
    throw new SubjectFailed(entry);
  });
  const [values] = (await Promise.race([once(child, 'message'), failed])) as [Values];
  child.disconnect();
  await exited;
  return values;
}

/**
 * Lets subjects run a scenario in turn, A B C, C B A, …, so that what disturbs the machine disturbs all
 * of them alike.
 * @param flags of Node.js, for the subjects
 * @throws SubjectFailed
 */
export async function runRounds(
  scenario: Scenario,
  entries: readonly Entry[],
  plan: Plan,
  flags: string[] = [],
): Promise<Row[]> {
  const rows = entries.map(({ name, label }): Row => ({ name, label, values: {} }));
  const turns = [...entries.entries()];
  const { addresses, close } = await startService();
  try {
    for (let round = 1; round <= scenario.rounds; round++) {
      for (const [index, entry] of turns) {
        const { name, label, packageFolder = repository } = entry;
        console.error(`${scenario.name}, round ${round} of ${scenario.rounds}: ${label}`);
        const job = { scenario: scenario.name, subject: name, plan, packageFolder };
        const measured = await runSubject(entry, { ...job, addresses }, flags);
        const values = rows[index]?.values ?? {};
        for (const [key, value] of Object.entries(measured)) (values[key] ??= []).push(value);
      }
      turns.reverse();
    }
  } finally {
    close();
  }
  return rows;
}
