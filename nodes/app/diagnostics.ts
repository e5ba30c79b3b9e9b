import { readFileSync } from 'node:fs';
import { platform, release } from 'node:os';
import { dirname, join } from 'node:path';
import type { NodeAPI } from 'node-red';
import type { Book } from '../../src/for-nodes';
import type { DeviceSnapshot } from '../../src/index';
import { isVariable } from '../common/shared.config';
import type { Diagnostics, FleetCluster } from './answers.config';
import { runningApps, serviceOf, withoutAddresses, type RunningApp } from './deployed';
import { commonSettings } from './options';

/** Errors of all applications together. */
const ERRORS = 20;

function packageVersion(folder = __dirname): string {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name?: unknown;
      version?: unknown;
    };
    if (name !== undefined) return String(version);
  } catch {
    // The folder above may have it.
  }
  return dirname(folder) === folder ? 'unknown' : packageVersion(dirname(folder));
}

function settingsOf({ saved, node }: RunningApp): Diagnostics['apps'][number]['settings'] {
  const { baseUrl } = node.endpoint;
  const open = node.problem('open');
  const server = node.problem('server');
  const { timeout, heartbeat, ping, ...common } = commonSettings(saved);
  return {
    service: serviceOf(saved),
    scheme: /^https?(?=:)/i.exec(baseUrl ?? '')?.[0].toLowerCase() ?? '',
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

const total = (devices: DeviceSnapshot[], of: (device: DeviceSnapshot) => number): number =>
  devices.reduce((sum, device) => sum + of(device), 0);

const clusterCounts = (cluster: FleetCluster | undefined): Record<string, number> =>
  cluster
    ? {
        processes: cluster.processes,
        otherBooks: cluster.otherBooks?.length ?? 0,
        ...(cluster.queue
          ? { queued: cluster.queue.length, deadLetters: cluster.queue.deadLetters }
          : {}),
      }
    : {};

/** Of the device book numbers alone: its names, groups and path are private. */
const bookCounts = (book: Book | undefined, devices: DeviceSnapshot[]): Record<string, number> =>
  book
    ? {
        bookDevices: book.size,
        bookGroups: book.groups().length,
        bookRowsLeftOut: book.badRows,
        bookFaults: book.problems.filter(({ line }) => line === 0).length,
        missing: devices.filter(({ missing }) => missing).length,
      }
    : {};

function countsOf({ node }: RunningApp): Diagnostics['apps'][number]['counts'] {
  const devices = node.fleet()?.snapshot() ?? [];
  const count = (is: (device: DeviceSnapshot) => boolean): number => devices.filter(is).length;
  return {
    nodes: Object.keys(node.users).length,
    devices: devices.length,
    online: count(({ online }) => online === true),
    channels: count(({ channel }) => channel !== null),
    connected: count(({ channel }) => channel?.state === 'connected'),
    waiting: total(devices, ({ waiting }) => waiting),
    running: total(devices, ({ running }) => running),
    reconnects: total(devices, ({ reconnects }) => reconnects),
    recovered: total(devices, ({ recovered }) => recovered),
    ...bookCounts(node.fleet()?.book, devices),
    ...clusterCounts(node.processes?.cluster()),
  };
}

function errorsOf(RED: NodeAPI, { saved, node }: RunningApp): Diagnostics['errors'] {
  // Diagnostics that are copied are often published.
  const shown = withoutAddresses(RED, saved.id);
  return (node.fleet()?.errors() ?? []).map(({ chipid, code, message, at }) => ({
    ...{ app: saved.id, chipid, code, at },
    message: shown(message),
  }));
}

/** Collects them. Starts nothing, and calls no service; of a cluster, it reads the length of the queue. */
export async function diagnose(RED: NodeAPI): Promise<Diagnostics> {
  const apps = runningApps(RED);
  await Promise.all(apps.map(({ node }) => node.processes?.read() ?? Promise.resolve(false)));
  const errors = apps.flatMap((app) => errorsOf(RED, app)).sort((a, b) => b.at - a.at);
  return {
    versions: {
      package: packageVersion(),
      // Node-RED gives it to all, which its types leave out.
      nodeRed: String((RED.settings as { version?: unknown }).version),
      node: process.version,
      os: `${platform()} ${release()} ${process.arch}`,
    },
    apps: apps.map((app) => ({
      id: app.saved.id,
      settings: settingsOf(app),
      counts: countsOf(app),
    })),
    errors: errors.slice(0, ERRORS),
  };
}
