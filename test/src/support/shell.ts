import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { BARE, keep } from '../../tooling/process';
import { atEnd } from '../../tooling/servers/at-end';

/*
 * Runs commands as a person would paste them. A machine with nothing but Node.js and npm may have neither
 * curl nor openssl: then stand-ins that know what the printed commands use take their place.
 */

const OPENSSL = `
const hash = require('node:crypto').createHash('md5');
process.stdin.on('data', (bytes) => hash.update(bytes)).on('end', () => {
  console.log('MD5(stdin)= ' + hash.digest('hex'));
});`;

const CURL = `
const args = process.argv.slice(2);
const headers = {};
let url;
while (args.length > 0) {
  const option = args.shift();
  if (option === '-H') {
    const [, name, value] = /^([^:]+): ?(.*)$/s.exec(args.shift());
    headers[name] = value;
  } else if (!option.startsWith('-')) url = option;
}
require('node:http').get(url, { headers }, (answer) => {
  const { statusCode, statusMessage } = answer;
  process.stdout.write('HTTP/1.1 ' + statusCode + ' ' + statusMessage + '\\r\\n\\r\\n');
  answer.pipe(process.stdout);
});`;

/** The machine's shell; undefined on one that has none, such as Windows without Git. */
export const SHELL = spawnSync('sh', ['-c', ':']).status === 0 ? 'sh' : undefined;

/** Whether the machine has the tools that the printed commands use. */
export const HAS_TOOLS =
  spawnSync('sh', ['-c', 'command -v curl && command -v openssl']).status === 0;

/** A folder with the stand-ins, which is deleted at the end of the test. */
function standIns(): string {
  const folder = mkdtempSync(join(tmpdir(), 'device-cloud-tools-'));
  atEnd(() => rmSync(folder, { recursive: true }));
  for (const [name, source] of Object.entries({ openssl: OPENSSL, curl: CURL })) {
    const path = join(folder, name);
    writeFileSync(path, `#!${process.execPath}\n${source}`);
    chmodSync(path, 0o700);
  }
  return folder;
}

/** Runs a command in the shell. @param tools whose `curl` and `openssl` it finds first @returns what it printed */
export async function output(
  command: string,
  env: Readonly<Record<string, string>>,
  tools: 'machine' | 'stand-ins',
): Promise<string> {
  const path = process.env['PATH'] ?? '';
  const PATH = tools === 'machine' ? path : `${standIns()}${delimiter}${path}`;
  const child = spawn(SHELL ?? 'sh', ['-s'], { env: { ...process.env, ...BARE, ...env, PATH } });
  child.stdin.end(`${command}\n`);
  const kept = keep('the command', child);
  await kept.ended;
  return kept.log();
}
