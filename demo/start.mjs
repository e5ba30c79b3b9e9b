import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { SetupError } from '../scripts/npm.mjs';
import { lock } from '../scripts/lock.mjs';
import { fail, setup } from '../scripts/setup.mjs';
import { checkPort, wantedPort } from './port.mjs';
import { prepareUserDir, userDir } from './user-dir.mjs';

/*
 * `npm start`: Node-RED with the demo flows, whose devices are those of the built-in simulator.
 * `npm start -- --port 1890`, or PORT, chooses another port; `npm start -- --reset` puts the flows back as they came.
 */

const USAGE = 'The options are: npm start -- --port <number> --reset';

const alreadyRunning = ({ pid, editor }) =>
  `The demo of this folder is running already (process ${pid}): ${editor}`;

let nodeRed;
let ending;

/** Ends what was started, once; a second Ctrl-C does not wait for anything. */
function end(code) {
  if (ending) process.exit(1);
  ending = Promise.allSettled([nodeRed?.end()]).then(() => process.exit(code));
  return ending;
}

async function start() {
  const { reset, port: wanted } = options();
  const port = wantedPort(wanted);
  const editor = `http://127.0.0.1:${port}/`;
  const dashboard = `${editor}dashboard`;
  // Before the slow things, so that a second demo and a taken port are known at once.
  lock(join(userDir, 'demo.lock'), alreadyRunning, { editor });
  await checkPort(port);
  setup();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));

  // What is imported here needs what setup builds.
  const { answering, startNodeRed } = await import('./node-red.mjs');
  prepareUserDir({ reset });
  console.log('Starting Node-RED …');
  nodeRed = startNodeRed(port);
  const crashed = nodeRed.ended.then((how) => {
    if (!ending) throw new SetupError(`Node-RED has ended by itself (${how}).`);
  });

  await Promise.race([answering([editor, dashboard]), crashed]);
  if (ending) return;
  console.log(`
Editor      ${editor}
Dashboard   ${dashboard}
Devices     of the built-in simulator: choose the service "built-in simulator" to see them

Ctrl-C ends all of it.`);
  await crashed;
}

function options() {
  try {
    const { values } = parseArgs({
      options: { port: { type: 'string' }, reset: { type: 'boolean', default: false } },
    });
    return values;
  } catch (error) {
    throw new SetupError(`${error.message.split('. ')[0]}. ${USAGE}`);
  }
}

start().catch((error) => {
  fail(error);
  return end(1);
});
