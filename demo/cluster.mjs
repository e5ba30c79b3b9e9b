import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, SetupError } from '../scripts/npm.mjs';
import { fail, setup } from '../scripts/setup.mjs';
import { checkPort } from './port.mjs';

/*
 * `npm run cluster`: Redis, a simulator and three Node-REDs that share its devices, with the example of the import menu. All of
 * it is new at each start.
 */

const FIRST_PORT = 1890;
const COUNT = 3;
const EXAMPLE = join(root, 'examples', '6 Many devices', 'Several Node-REDs.json');
const folder = join(root, '.cache', 'cluster');

const started = [];
let ending;

/** Ends what was started, the last first, once; a second Ctrl-C does not wait for anything. */
function end(code) {
  if (ending) process.exit(1);
  ending = started
    .reverse()
    .reduce((last, each) => last.then(each).catch(() => undefined), Promise.resolve())
    .then(() => process.exit(code));
  return ending;
}

/** The example with the addresses of Redis and the simulator. */
function prepare(userDir, { redis, simulator }) {
  const flows = JSON.parse(readFileSync(EXAMPLE, 'utf8'));
  const find = (type) => flows.find((node) => node.type === type);
  find('device-cloud-cluster').url = redis.url;
  const app = find('device-cloud-app');
  const { baseUrl, appid, appkey } = simulator;
  Object.assign(app, { service: 'cloud', baseUrl, appid });
  mkdirSync(userDir, { recursive: true });
  writeFileSync(join(userDir, 'flows.json'), JSON.stringify(flows, null, 2));
  writeFileSync(join(userDir, 'flows_cred.json'), JSON.stringify({ [app.id]: { appkey } }));
}

async function start() {
  const ports = Array.from({ length: COUNT }, (_, index) => FIRST_PORT + index);
  for (const port of ports) await checkPort(port, 'npm run cluster');
  setup();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => end(0));

  // What is imported here needs what setup builds.
  const { HAS_REDIS, startRedis } = await import('../dist/test/tooling/servers/redis.js');
  const { spawnNodeRed } = await import('../dist/test/tooling/node-red/process.js');
  const { startSimulator } = await import('../dist/src/simulator/index.js');
  const { answering } = await import('./node-red.mjs');
  const { settings } = await import('./user-dir.mjs');
  if (!HAS_REDIS)
    throw new SetupError(
      'There is no redis-server on this machine. Install Redis, or Valkey under that name.',
    );
  const redis = await startRedis();
  started.push(() => redis.end());
  const simulator = await startSimulator({ devices: 10 });
  started.push(() => simulator.close());
  console.log(`Starting ${COUNT} Node-REDs …`);
  rmSync(folder, { recursive: true, force: true });
  const processes = ports.map((port) => {
    const userDir = join(folder, String(port));
    prepare(userDir, { redis, simulator });
    const nodeRed = spawnNodeRed({
      userDir,
      settings: { ...settings(port), userDir },
      nodeRed: join(root, 'node_modules', 'node-red'),
      node: process.execPath,
      env: process.env,
      show: true,
    });
    started.push(() => nodeRed.end());
    return nodeRed;
  });
  await answering(ports.map((port) => `http://127.0.0.1:${port}/`));
  const lines = ports.map(
    (port, index) =>
      `Editor ${index + 1}   http://127.0.0.1:${port}/   process ${processes[index].pid()}`,
  );
  console.log(`
${lines.join('\n')}
Redis      ${redis.url}
Devices    of a simulator at ${simulator.baseUrl}

Each upload appears in the debug sidebar of one of the three. End one with kill -9 and its process: the others go on with its
devices within ten seconds. Ctrl-C ends all of it.`);
}

start().catch((error) => {
  fail(error);
  return end(1);
});
