import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { SetupError, root } from '../npm.mjs';

const STARTED_WITHIN_MS = 60_000;
const STOPPED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 50;

const SETTINGS = {
  uiHost: '127.0.0.1',
  flowFile: 'flows.json',
  credentialSecret: false,
  lang: 'en-US',
  telemetry: { enabled: false },
  logging: { console: { level: 'info', metrics: false, audit: false } },
};

/** What every Node-RED with such settings says at its start, by itself. */
const OWN_WARNINGS = [
  'Projects disabled : set editorTheme.projects.enabled=true to enable',
  'Using unencrypted credentials',
];

const SERIOUS = /\[(warn|error|fatal)\]|\w(Warning|Error): /;

/**
 * Starts the Node-RED that is installed in a folder, which is its user folder too.
 * @returns its versions, `call` for its admin API, `stop`, and what looks at its log from a position on
 */
export async function startNodeRed(folder, node) {
  writeFileSync(join(folder, 'settings.json'), JSON.stringify(SETTINGS));
  writeFileSync(join(folder, 'flows.json'), '[]');
  const preload = ['--require', join(root, 'scripts', 'end-with-parent.cjs')];
  const red = join(folder, 'node_modules', 'node-red', 'red.js');
  const options = ['-u', folder, '-s', join(folder, 'settings.json'), '-p', '0'];
  const child = spawn(node, [...preload, red, ...options], {
    cwd: folder,
    // Example 15 writes into the folder for temporary files.
    env: { ...process.env, TEMP: folder, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  let log = '';
  let ended;
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text) => (log += text));
  }
  const end = new Promise((resolve) => {
    const note = (how) => resolve((ended = how));
    child.once('error', (error) => note(error.message));
    child.once('close', (code, signal) => note(signal ?? `exit code ${code}`));
  });

  /** Waits for a line after a position of the log. @returns the match */
  async function logged(pattern, from = 0) {
    const deadline = Date.now() + STARTED_WITHIN_MS;
    for (;;) {
      const match = pattern.exec(log.slice(from));
      if (match) return match;
      if (ended) throw new SetupError(`${log}\nNode-RED has ended by itself (${ended}).`);
      if (Date.now() > deadline) throw new SetupError(`${log}\nThe log never shows ${pattern}.`);
      await sleep(LOOK_EVERY_MS);
    }
  }

  async function stop() {
    child.kill('SIGTERM');
    await Promise.race([end, sleep(STOPPED_WITHIN_MS, undefined, { ref: false })]);
    child.kill('SIGKILL');
    await end;
  }

  /** The lines after a position that tell of something wrong. */
  const problems = (from = 0) =>
    log
      .slice(from)
      .split('\n')
      .filter((line) => SERIOUS.test(line));

  try {
    const [, ...versions] = await logged(/Node-RED version: (\S+)[^]*?Node\.js +version: (\S+)/);
    const [, url] = await logged(/now running at (http:\S+?)\/?\s/);
    await logged(/Started flows/);
    const strange = problems().filter((line) => !OWN_WARNINGS.some((own) => line.endsWith(own)));
    if (strange.length > 0) throw new SetupError(strange.join('\n'));
    const call = (method, path, body) => callAdmin(`${url}${path}`, method, body);
    return {
      versions,
      call,
      logged,
      problems,
      log: (from) => log.slice(from),
      position: () => log.length,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Without the deadline that `fetch` has: a package that compiles takes minutes to install. */
function callAdmin(url, method, body) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const call = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => (text += part));
      response.once('end', () => resolve({ ok: response.statusCode < 300, text }));
    });
    call.once('error', reject);
    call.end(body && JSON.stringify(body));
  });
}
