import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { BARE } from '../test/tooling/process';
import { repository } from '../test/tooling/repository';
import type { Plan } from './plan';
import type { Row, Scenario, Subject } from './scenario';
import { startService } from './service/service';
import type { Message, SubjectSettings } from './subject';

/** A subject, and the folder of the package that it uses: the repository unless another is given. */
export interface Entry extends Subject {
  packageFolder?: string;
}

/** Milliseconds that no subject needs. */
const TIMEOUT = 600_000;

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

  constructor(entry: Entry, settings: SubjectSettings) {
    this.#child = fork(join(__dirname, 'subject.js'), [JSON.stringify(settings)], {
      cwd: repository,
      env: { ...process.env, ...BARE },
      // What this process was started with, such as --cpu-prof, is for them.
      execArgv: ['--expose-gc', ...process.execArgv],
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

/** A subject with what belongs to it alone. */
interface Turn {
  entry: Entry;
  row: Row;
  service: Awaited<ReturnType<typeof startService>>;
}

/** Lets each subject measure once. Those that wait for a turn then take turns. @throws SubjectFailed */
async function runRound(turns: readonly Turn[], start: (turn: Turn) => Running): Promise<void> {
  const waiting = new Map<Turn, Running>();
  const hear = async (turn: Turn, running: Running): Promise<void> => {
    const message = await running.next();
    if (message === 'ready') return;
    waiting.delete(turn);
    for (const [key, value] of Object.entries(message)) (turn.row.values[key] ??= []).push(value);
    await running.end();
  };
  try {
    for (const turn of turns) {
      const running = start(turn);
      waiting.set(turn, running);
      await hear(turn, running);
    }
    for (let backwards = false; waiting.size > 0; backwards = !backwards) {
      const order = backwards ? [...waiting].reverse() : [...waiting];
      for (const [turn, running] of order) {
        running.go();
        await hear(turn, running);
      }
    }
  } finally {
    await Promise.all([...waiting.values()].map((running) => running.end()));
  }
}

/**
 * Lets subjects run a scenario in turn, A B C, C B A, …, so that what disturbs the machine disturbs all
 * of them alike. Each has a service of its own.
 * @throws SubjectFailed
 */
export async function runRounds(
  scenario: Scenario,
  entries: readonly Entry[],
  plan: Plan,
): Promise<Row[]> {
  const turns: Turn[] = [];
  try {
    for (const entry of entries) {
      const row: Row = { name: entry.name, label: entry.label, values: {} };
      turns.push({ entry, row, service: await startService() });
    }
    const rows = turns.map(({ row }) => row);
    for (let round = 1; round <= scenario.rounds; round++) {
      await runRound(turns, ({ entry, service: { addresses } }) => {
        const { name, label, packageFolder = repository } = entry;
        console.error(`${scenario.name}, round ${round} of ${scenario.rounds}: ${label}`);
        const job = { scenario: scenario.name, subject: name, packageFolder, addresses };
        return new Running(entry, { ...job, plan: { ...plan, ...scenario.plan } });
      });
      turns.reverse();
    }
    return rows;
  } finally {
    await Promise.all(turns.map(({ service }) => service.close()));
  }
}
