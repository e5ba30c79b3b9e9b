import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { keep, within } from '../../test/soak/child';
import { repository } from '../../test/support/repository';
import type { Answer, Argument, Methods, Result } from './rpc';

/** A process of the benchmark, as the one that has started it sees it. */
export interface Peer<M extends Methods<M>> {
  ask<K extends keyof M & string>(name: K, ...argument: Argument<M, K>): Promise<Result<M, K>>;
  end(): Promise<void>;
}

/** No single question takes longer. */
const PATIENCE = 300_000;

/** Loopback alone, and certificates of this package's own servers. */
const ENVIRONMENT = {
  HTTP_PROXY: undefined,
  HTTPS_PROXY: undefined,
  http_proxy: undefined,
  https_proxy: undefined,
  NODE_V8_COVERAGE: undefined,
  NODE_EXTRA_CA_CERTS: join(repository, 'test', 'support', 'certs', 'loopback.cert.pem'),
};

/**
 * Starts a process of the benchmark.
 * @param file below bench/, without its ending
 */
export function startChild<M extends Methods<M>>(file: string, settings: object = {}): Peer<M> {
  const flags = [
    '--expose-gc',
    '--enable-source-maps',
    '--require',
    join(repository, 'scripts', 'end-with-parent.cjs'),
  ];
  const main = join(__dirname, '..', `${file}.js`);
  const child = keep(
    file,
    spawn(process.execPath, [...flags, main, JSON.stringify(settings)], {
      cwd: repository,
      env: { ...process.env, ...ENVIRONMENT },
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    }),
  );
  const waiting = new Map<number, (answer: Answer) => void>();
  let last = 0;
  child.process.on('message', (answer: Answer) => {
    waiting.get(answer.id)?.(answer);
    waiting.delete(answer.id);
  });

  return {
    async ask(name, ...[argument]) {
      const id = ++last;
      const asked = new Promise<Answer>((resolve) => waiting.set(id, resolve));
      child.process.send({ id, name, argument });
      const what = `${file} has answered ${name}`;
      const answer = await within(PATIENCE, Promise.race([asked, child.crashed]), what);
      if ('error' in answer) throw new Error(`${file}, ${name}: ${answer.error}\n${child.log()}`);
      return answer.result as never;
    },
    end: () => child.end('SIGTERM'),
  };
}
