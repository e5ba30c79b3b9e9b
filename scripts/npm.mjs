import { spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Folder of the repository, wherever a command was typed. */
export const root = fileURLToPath(new URL('..', import.meta.url));

/** A failure whose message is all a person needs: no stack is shown for it. */
export class SetupError extends Error {}

/**
 * Runs npm and waits for it. Under `npm start` and `npm test` npm names its own script, which saves
 * a shell and finds the very npm that was typed; otherwise npm is looked up in the path, where
 * Windows has a `.cmd` file that only a shell can start.
 */
export function npm(args, { cwd = root } = {}) {
  const script = process.env.npm_execpath;
  if (script && /^npm/.test(basename(script))) {
    return run(process.execPath, [script, ...args], { cwd });
  }
  return run('npm', args, { cwd, shell: process.platform === 'win32' });
}

/** Runs a command quietly: what it printed is shown only when it fails. */
export function run(command, args, { cwd = root, shell = false, env = process.env } = {}) {
  const result = spawnSync(command, args, {
    cwd,
    shell,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 64 * 1024 * 1024,
  });
  if (result.error)
    throw new SetupError(`${command} could not be started: ${result.error.message}`);
  if (result.status === 0) return result.stdout;
  process.stderr.write(result.stdout + result.stderr);
  const how = result.signal
    ? `was ended by ${result.signal}`
    : `failed (exit code ${result.status})`;
  throw new SetupError(`${[basename(command), ...args].join(' ')} ${how}; its output is above.`);
}
