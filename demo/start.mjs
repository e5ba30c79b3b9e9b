import { parseArgs } from 'node:util';
import { SetupError } from '../scripts/npm.mjs';
import { fail, setup } from '../scripts/setup.mjs';
import { checkPort, wantedPort } from './port.mjs';
import { prepareUserDir } from './user-dir.mjs';

/*
 * `npm start`: the built-in simulator with a few living devices, and Node-RED with the demo flows.
 * PORT chooses another port; `npm start -- --reset` puts the flows back as they came.
 */

const DEVICES = 3;
const SECONDS_BETWEEN_UPLOADS = 2;

let simulator;
let nodeRed;
let ending;

/** Ends what was started, once; a second Ctrl-C does not wait for anything. */
function end(code) {
  if (ending) process.exit(1);
  ending = Promise.allSettled([nodeRed?.end(), simulator?.close()]).then(() => process.exit(code));
  return ending;
}

async function start() {
  const { reset } = options();
  const port = wantedPort();
  // Before the slow things, so that a taken port is known at once.
  await checkPort(port);
  setup();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));

  // What is imported here needs what setup builds.
  const { startSimulator } = await import('../dist/src/simulator/index.js');
  const { answering, startNodeRed } = await import('./node-red.mjs');
  simulator = await startSimulator({ devices: DEVICES, interval: SECONDS_BETWEEN_UPLOADS });
  prepareUserDir({ reset });
  const noProxy = `${process.env.no_proxy ?? process.env.NO_PROXY ?? ''},127.0.0.1`;
  console.log('Starting Node-RED …');
  nodeRed = startNodeRed(port, {
    DEVICE_CLOUD_BASE_URL: simulator.baseUrl,
    DEVICE_CLOUD_APPID: String(simulator.appid),
    DEVICE_CLOUD_APPKEY: simulator.appkey,
    DEVICE_CLOUD_SERVER_KEY: simulator.serverKey,
    DEVICE_CLOUD_SERVER_PASSWORD: simulator.serverPassword,
    // A proxy of this machine cannot reach the simulator on the loopback address.
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  });
  const crashed = nodeRed.ended.then((how) => {
    if (!ending) throw new SetupError(`Node-RED has ended by itself (${how}).`);
  });

  const editor = `http://127.0.0.1:${port}/`;
  const dashboard = `${editor}dashboard`;
  await Promise.race([answering([editor, dashboard]), crashed]);
  if (ending) return;
  console.log(`
Editor      ${editor}
Dashboard   ${dashboard}
Simulator   ${simulator.baseUrl} with ${DEVICES} devices

Ctrl-C ends all of it.`);
  await crashed;
}

function options() {
  try {
    return parseArgs({ options: { reset: { type: 'boolean', default: false } } }).values;
  } catch (error) {
    throw new SetupError(
      `${error.message.split('. ')[0]}. The only option is: npm start -- --reset`,
    );
  }
}

start().catch((error) => {
  fail(error);
  return end(1);
});
