import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { lock } from '../scripts/lock.mjs';
import { root, SetupError } from '../scripts/npm.mjs';
import { fail, setup } from '../scripts/setup.mjs';
import { checkPort, wantedPort } from './port.mjs';

/*
 * `npm run cluster`: Redis, the simulator and three Node-RED that share its devices.
 * `-- --port 1890`, or PORT, chooses the first of three ports, `-- --redis redis://host:6379` an engine that runs
 * already; `-- --reset` puts the flows back as they came.
 */

const COMMAND = 'npm run cluster';
const USAGE = `The options are: ${COMMAND} -- --port <number> --redis <address> --reset`;
const MEMBERS = 3;
const DEVICES = 30;
/** The config node of the application in the flows, whose key is a credential. */
const APP = 'b1f0c3a5d2e94701';

const NO_ENGINE = `Neither redis-server nor valkey-server is installed on this machine. Install one:
  Debian, Ubuntu   sudo apt install redis-server
  Fedora           sudo dnf install valkey
  macOS            brew install redis
Or use one that runs elsewhere: ${COMMAND} -- --redis redis://host:6379`;

/** Ignored by git, and safe to delete. The variable is for the tests. */
const folder = process.env.DEVICE_CLOUD_CLUSTER_DIR ?? join(root, '.cache', 'cluster');
const flows = join(root, 'demo', 'cluster-flows.json');

/** What was started: the last one is ended first. */
const started = [];
let ending;

/** Ends what was started, once; a second Ctrl-C does not wait for anything. */
function end(code) {
  if (ending) process.exit(1);
  // Those that have had the Ctrl-C of the terminal, too, may be gone already.
  const endAll = async () => {
    const [engine, ...others] = started;
    await Promise.allSettled(others.map((stop) => stop()));
    await engine?.().catch(() => undefined);
  };
  ending = endAll().then(() => process.exit(code));
  return ending;
}

const isInstalled = (program) => spawnSync(program, ['--version']).error === undefined;

function options() {
  try {
    const { values } = parseArgs({
      options: {
        port: { type: 'string' },
        redis: { type: 'string' },
        reset: { type: 'boolean', default: false },
      },
    });
    return values;
  } catch (error) {
    throw new SetupError(`${error.message.split('. ')[0]}. ${USAGE}`);
  }
}

/** All have the flows of the first one, which a person may have changed. */
function prepareMembers(reset) {
  const folders = Array.from({ length: MEMBERS }, (_, index) => join(folder, String(index + 1)));
  const [first] = folders.map((each) => join(each, 'flows.json'));
  for (const each of folders) {
    mkdirSync(each, { recursive: true });
    const own = join(each, 'flows.json');
    if (own !== first) copyFileSync(first, own);
    else if (reset || !existsSync(first)) copyFileSync(flows, first);
    const credentials = { [APP]: { appkey: '${DEVICE_CLOUD_APPKEY}' } };
    writeFileSync(join(each, 'flows_cred.json'), JSON.stringify(credentials));
  }
  return folders;
}

async function startEngine() {
  const { startRedis } = await import('../dist/tooling/servers/redis.js');
  const program = isInstalled('redis-server') ? 'redis-server' : 'valkey-server';
  const { port, end: stop, child } = await startRedis({ program });
  started.push(() => stop('SIGTERM'));
  return { address: `redis://127.0.0.1:${port}`, ended: child.ended };
}

async function start() {
  const { port: wanted, redis, reset } = options();
  const port = wantedPort(wanted);
  const ports = Array.from({ length: MEMBERS }, (_, index) => port + index);
  const alreadyRunning = ({ pid }) =>
    `The cluster of this folder is running already (process ${pid}).`;
  // Before the slow things, so that what is missing is known at once.
  if (redis === undefined && !['redis-server', 'valkey-server'].some(isInstalled))
    throw new SetupError(NO_ENGINE);
  lock(join(folder, 'cluster.lock'), alreadyRunning);
  for (const each of ports) await checkPort(each, COMMAND);
  setup();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));

  // What is imported here needs what setup builds.
  const { startSimulator } = await import('../dist/src/simulator/index.js');
  const { answering, startMember } = await import('./node-red.mjs');
  const engine = redis === undefined ? await startEngine() : { address: redis, ended: undefined };
  const simulator = await startSimulator({ devices: DEVICES });
  started.push(() => simulator.close());
  const env = {
    REDIS_URL: engine.address,
    DEVICE_CLOUD_ADDRESS: simulator.baseUrl,
    DEVICE_CLOUD_APPID: simulator.appid,
    DEVICE_CLOUD_APPKEY: simulator.appkey,
  };
  console.log('Starting Node-RED three times …');
  const members = prepareMembers(reset).map((each, index) => startMember(each, ports[index], env));
  for (const member of members) started.push(() => member.end());
  const ended = [engine.ended, ...members.map((member) => member.ended)].filter(Boolean);
  const crashed = Promise.race(ended).then(async (how) => {
    // One that is killed to try a takeover ends nothing else.
    if (ending) return;
    console.log(`A process has ended (${how}). Ctrl-C ends the others.`);
    await new Promise(() => undefined);
  });
  const editors = ports.map((each) => `http://127.0.0.1:${each}/`);
  await Promise.race([answering(editors), crashed]);
  if (ending) return;
  const lines = members.map((member, index) => `${editors[index]}   process ${member.pid()}`);
  console.log(`
Simulator   ${simulator.baseUrl}   ${DEVICES} devices, App ID ${simulator.appid}
Redis       ${redis === undefined ? engine.address : 'as given'}
Node-RED    ${lines.join('\n            ')}

The listener shows the same in all of them, such as 10/30 · 3 processes. Kill one, as with kill -9 and its number,
and the others take over its devices. What you deploy in the first editor reaches the others at the next start.

Ctrl-C ends all of it.`);
  await crashed;
}

start().catch((error) => {
  fail(error);
  return end(1);
});
