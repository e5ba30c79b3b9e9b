import { platform, release } from 'node:os';
import type { NodeAPI } from 'node-red';
import { Slices, VERSION, type Book, type DeviceSnapshot } from '../../src/index';
import { isVariable } from '../common/shared.config';
import type { Diagnostics } from './answers.config';
import { runningApps, serviceOf, type RunningApp } from './deployed';
import { commonSettings } from './options';

/** Errors of all applications together. */
const ERRORS = 20;

function settingsOf({ saved, node }: RunningApp): Diagnostics['apps'][number]['settings'] {
  const { baseUrl } = node.app.endpoint;
  const open = node.app.problem('open');
  const server = node.app.problem('server');
  const { timeout, heartbeat, ping, ...common } = commonSettings(saved);
  return {
    service: serviceOf(saved),
    scheme: /^https?(?=:)/i.exec(baseUrl)?.[0].toLowerCase() ?? '',
    addressFromVariable: isVariable(saved.baseUrl),
    openApi: open?.code ?? 'ready',
    serverApi: server?.code ?? 'ready',
    tls: Boolean(saved.tls),
    proxy: Boolean(saved.proxy),
    // In seconds, as they are typed.
    ...{ timeout: timeout / 1000, heartbeat: heartbeat / 1000, ping: ping / 1000 },
    ...common,
  };
}

/** Of the device book numbers alone: its names, groups and path are private. */
const bookCounts = (book: Book): object => ({
  bookDevices: book.file.devices.size,
  bookGroups: book.file.groups.size,
  bookRowsLeftOut: book.file.badRows,
  bookFaults: book.problems.filter(({ line }) => line === 0).length,
});

/** What each device adds to the counts. */
const COUNTED = {
  devices: () => 1,
  online: ({ online }) => Number(online === true),
  channels: ({ channel }) => Number(channel !== null),
  connected: ({ channel }) => Number(channel?.state === 'connected'),
  waiting: ({ waiting }) => waiting,
  running: ({ running }) => running,
  reconnects: ({ reconnects }) => reconnects,
  recovered: ({ recovered }) => recovered,
  missing: ({ missing }) => Number(missing === true),
} satisfies Record<string, (device: DeviceSnapshot) => number>;

async function countsOf({ node }: RunningApp): Promise<Diagnostics['apps'][number]['counts']> {
  const fleet = node.app.fleet;
  const slices = new Slices();
  const counts: Record<string, number> = Object.fromEntries(
    Object.keys(COUNTED).map((name) => [name, 0]),
  );
  for (const device of fleet?.changesSince(0).devices ?? []) {
    for (const [name, of] of Object.entries(COUNTED))
      counts[name] = (counts[name] ?? 0) + of(device);
    if (slices.isOver) await slices.next();
  }
  return {
    nodes: Object.keys(node.users).length,
    ...counts,
    ...(fleet?.book && bookCounts(fleet.book)),
  };
}

function errorsOf({ node }: RunningApp): Diagnostics['errors'] {
  return (node.app.fleet?.errors() ?? []).map(({ chipid, code, message, at }) => ({
    ...{ app: node.id, chipid, code, at },
    message,
  }));
}

/** Collects them. Starts nothing, and calls no service. */
export async function diagnose(RED: NodeAPI): Promise<Diagnostics> {
  const apps = runningApps(RED);
  const errors = apps.flatMap(errorsOf).sort((a, b) => b.at - a.at);
  return {
    versions: {
      package: VERSION,
      // Node-RED gives it to all, which its types leave out.
      nodeRed: String((RED.settings as { version?: unknown }).version),
      node: process.version,
      os: `${platform()} ${release()} ${process.arch}`,
    },
    apps: await Promise.all(
      apps.map(async (app) => ({
        id: app.node.id,
        settings: settingsOf(app),
        counts: await countsOf(app),
      })),
    ),
    errors: errors.slice(0, ERRORS),
  };
}
