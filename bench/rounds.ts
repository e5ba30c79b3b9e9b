import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { certificate, repository } from './identity';
import type { Plan } from './plan';
import type { Row, Scenario, Subject, Values } from './scenario';
import { startService } from './service/service';
import type { Message, SubjectSettings } from './subject';

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

/** The process of a subject. */
class Running {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;
  readonly #failed: Promise<never>;

  constructor(
    readonly entry: Entry,
    settings: SubjectSettings,
    flags: string[],
  ) {
    this.#child = fork(join(__dirname, 'subject.js'), [JSON.stringify(settings)], {
      cwd: repository,
      env: { ...process.env, ...ENVIRONMENT },
      execArgv: ['--expose-gc', ...flags],
      stdio: ['ignore', process.stderr, process.stderr, 'ipc'],
      timeout: TIMEOUT,
    });
    this.#exited = once(this.#child, 'exit');
    this.#failed = this.#exited.then(() => {
      throw new SubjectFailed(entry);
    });
    this.#failed.catch(() => undefined);
  }

  /** Waits for what it says next. @throws SubjectFailed */
  async next(): Promise<Message> {
    const [message] = (await Promise.race([once(this.#child, 'message'), this.#failed])) as [
      Message,
    ];
    return message;
  }

  go(): void {
    this.#child.send('go');
  }

  async end(): Promise<void> {
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }
}

/** Lets each subject measure once. Those that wait for a turn then take turns. @throws SubjectFailed */
async function runRound(
  turns: readonly Entry[],
  start: (entry: Entry) => Running,
): Promise<Map<Entry, Values>> {
  const measured = new Map<Entry, Values>();
  const waiting = new Set<Running>();
  const hear = async (running: Running): Promise<void> => {
    const message = await running.next();
    if (message === 'ready') return;
    waiting.delete(running);
    measured.set(running.entry, message);
    await running.end();
  };
  try {
    for (const entry of turns) {
      const running = start(entry);
      waiting.add(running);
      await hear(running);
    }
    for (let order = [...waiting]; waiting.size > 0; order.reverse()) {
      for (const running of order.filter((each) => waiting.has(each))) {
        running.go();
        await hear(running);
      }
    }
  } finally {
    await Promise.all([...waiting].map((running) => running.end()));
  }
  return measured;
}

/**
 * Lets subjects run a scenario in turn, A B C, C B A, …, so that what disturbs the machine disturbs all
 * of them alike. Each has a service of its own.
 * @param flags of Node.js, for the subjects
 * @throws SubjectFailed
 */
export async function runRounds(
  scenario: Scenario,
  entries: readonly Entry[],
  plan: Plan,
  flags: string[] = [],
): Promise<Row[]> {
  const rows = new Map(
    entries.map(({ name, label }, at): [Entry, Row] => [entries[at]!, { name, label, values: {} }]),
  );
  const services = new Map<Entry, Awaited<ReturnType<typeof startService>>>();
  const turns = [...entries];
  try {
    for (const entry of entries) services.set(entry, await startService());
    for (let round = 1; round <= scenario.rounds; round++) {
      const measured = await runRound(turns, (entry) => {
        const { name, label, packageFolder = repository } = entry;
        console.error(`${scenario.name}, round ${round} of ${scenario.rounds}: ${label}`);
        const addresses = services.get(entry)!.addresses;
        const job = { scenario: scenario.name, subject: name, plan, packageFolder, addresses };
        return new Running(entry, job, flags);
      });
      for (const [entry, values] of measured) {
        const all = rows.get(entry)!.values;
        for (const [key, value] of Object.entries(values)) (all[key] ??= []).push(value);
      }
      turns.reverse();
    }
  } finally {
    for (const { close } of services.values()) close();
  }
  return [...rows.values()];
}
