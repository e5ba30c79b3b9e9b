import { mkdirSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from '../../../src/simulator';
import { app, node } from '../../../tooling/node-red/nodes';
import { startNodeRed } from '../../../tooling/node-red/process';
import { makeUserDir } from '../../../tooling/node-red/user-dir';
import { repository } from '../../../tooling/repository';
import { removeFolder, temporaryFolder } from '../../../tooling/temporary-folder';
import { atMost, type Goal, type Result } from './result';

/*
 * Node-RED without a cluster: what it loads because of the package. What it costs to start is measured by
 * `npm run bench`.
 */

export const NONE = { name: 'none', title: 'no cluster configured' } as const;

/** What the package has always depended on. */
const DEPENDENCIES = ['undici', 'ws'];

const TYPE = 'soak-loaded';

/** A node that prints what has been loaded, once the flow runs. */
const CODE = `
module.exports = (RED) => {
  RED.nodes.registerType('${TYPE}', function (config) {
    RED.nodes.createNode(this, config);
    const print = () => console.log('loaded ' + JSON.stringify(Object.keys(require.cache)) + ' end');
    const timer = setTimeout(print, 3000);
    this.on('close', () => clearTimeout(timer));
  });
};`;

const HTML = `<script type="text/javascript">
RED.nodes.registerType('${TYPE}', { category: 'soak', defaults: {} });
</script>`;

/** @returns the files that a Node-RED has loaded. @param flow undefined: without the package */
async function loaded(folder: string, flow: object[] | undefined): Promise<string[]> {
  makeUserDir(folder, flow === undefined ? null : undefined);
  const place = { z: 'tab', x: 100, y: 100, wires: [] };
  const flows = [
    { id: 'tab', type: 'tab' },
    { id: 'loaded', type: TYPE, ...place },
    ...(flow ?? []),
  ];
  writeFileSync(join(folder, 'flows.json'), JSON.stringify(flows));
  mkdirSync(join(folder, 'nodes'));
  writeFileSync(join(folder, 'nodes', 'loaded.js'), CODE);
  writeFileSync(join(folder, 'nodes', 'loaded.html'), HTML);
  const red = await startNodeRed({ userDir: folder, settings: { httpAdminRoot: false } });
  const [, files = '[]'] = await red.logged(/loaded (\[.*\]) end/);
  await red.end('SIGTERM');
  return JSON.parse(files) as string[];
}

/** The package that a file belongs to; that of this repository is not one of them. */
const packageOf = (file: string): string | undefined =>
  /.*[\\/]node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(file)?.[1]?.replace('\\', '/');

/** Node-RED reads the package.json of every package there is. */
const isCode = (file: string): boolean => !file.endsWith('.json');

const packagesOf = (files: readonly string[]): Set<string> =>
  new Set(files.filter(isCode).flatMap((file) => packageOf(file) ?? []));

/** Runs a listener without a cluster, and looks at what was loaded for it. */
export async function runNone(): Promise<Result> {
  const [load = 0] = loadavg();
  const folder = temporaryFolder('none');
  const simulator = await startSimulator({ interval: 0 });
  try {
    const before = packagesOf(await loaded(join(folder, 'without'), undefined));
    const chipids = [...simulator.devices.keys()];
    const place = { z: 'tab', x: 100, y: 100, wires: [[]], name: '' };
    const listen = { id: 'listen', ...node('listen', { chipids }), ...place };
    const files = await loaded(join(folder, 'with'), [app(simulator), listen]);
    const more = [...packagesOf(files)].filter((name) => !before.has(name)).sort();
    const cluster = files.filter((file) =>
      file.startsWith(join(repository, 'dist', 'src', 'cluster')),
    );
    return { ...resultOf(more, cluster.length), load };
  } finally {
    await simulator.close();
    removeFolder(folder);
  }
}

function resultOf(more: readonly string[], modules: number): Omit<Result, 'load'> {
  const isReached = more.every((name) => DEPENDENCIES.includes(name));
  const packages: Goal = {
    ...{ name: 'packages loaded beyond those of Node-RED', measured: more.join(', '), isReached },
    limit: 'undici, ws',
  };
  const goals = [packages, atMost('modules of the cluster loaded', modules, 0)];
  return { title: NONE.title, minutes: undefined, uploads: '–', lost: '–', doubled: '–', goals };
}
