import { request } from 'node:http';
import { join } from 'node:path';
import { startNodeRed as start } from '../../dist/test/tooling/node-red/process.js';
import { SetupError } from '../npm.mjs';

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
  const nodeRed = join(folder, 'node_modules', 'node-red');
  // Example 15 writes into the folder for temporary files.
  const env = { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1', TEMP: folder };
  // What examples need comes from the palette: with all nodes, and through whatever proxy there is.
  const settings = { lang: 'en-US', nodesExcludes: [] };
  const { url, log, logged, end } = await start({ userDir: folder, node, nodeRed, settings, env });

  /** The lines after a position that tell of something wrong. */
  const problems = (from) =>
    log(from)
      .split('\n')
      .filter((line) => SERIOUS.test(line));

  try {
    const [, ...versions] = await logged(/Node-RED version: (\S+)[^]*?Node\.js +version: (\S+)/);
    const strange = problems().filter((line) => !OWN_WARNINGS.some((own) => line.endsWith(own)));
    if (strange.length > 0) throw new SetupError(strange.join('\n'));
    const call = (method, path, body) => callAdmin(`${url}${path}`, method, body);
    return { versions, call, logged, problems, log, position: () => log().length, stop: end };
  } catch (error) {
    await end();
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
