import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The answer of an engine to one command, on a separate connection. */
export async function redisCli(port: number, ...command: string[]): Promise<string> {
  const { stdout } = await run('redis-cli', ['-p', String(port), ...command]);
  return stdout;
}
