import { platform, release } from 'node:os';
import type { NodeAPI } from 'node-red';
import { VERSION, type Book } from '../../src/index';
import { isVariable } from '../common/shared.config';
import type { Diagnostics } from './answers.config';
import { findDeployed, runningApps, type AppNode } from './deployed';
import { commonSettings } from './options';

/** Errors of all applications together. */
const ERRORS = 20;

function settingsOf(RED: NodeAPI, node: AppNode): Diagnostics['apps'][number]['settings'] {
  const { config } = node.app;
  const open = node.app.problem('open');
  const server = node.app.problem('server');
  const { timeout, heartbeat, ping, ...common } = commonSettings(config);
  return {
    service: config.service,
    scheme: /^https?(?=:)/i.exec(config.baseUrl)?.[0].toLowerCase() ?? '',
    addressFromVariable: isVariable(findDeployed(RED, node.id)?.saved.baseUrl),
    openApi: open?.code ?? 'ready',
    serverApi: server?.code ?? 'ready',
    tls: config.tls !== '',
    proxy: config.proxy !== '',
    // In seconds, as they are typed.
    timeout: timeout / 1000,
    heartbeat: heartbeat / 1000,
    ping: ping / 1000,
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

function countsOf(node: AppNode): Diagnostics['apps'][number]['counts'] {
  const { fleet } = node.app;
  const metrics = fleet?.metrics();
  return {
    nodes: Object.keys(node.users).length,
    ...(metrics && {
      devices: metrics.devices,
      online: metrics.online,
      ...metrics.channels,
      uploads: metrics.uploads,
      recovered: metrics.replayed,
      waiting: metrics.waiting,
    }),
    ...(fleet?.book && bookCounts(fleet.book)),
  };
}

function errorsOf(node: AppNode): Diagnostics['errors'] {
  return (node.app.fleet?.errors() ?? []).map(({ chipid, code, message, at }) => ({
    app: node.id,
    chipid,
    code,
    message,
    at,
  }));
}

/** Collects them. Starts nothing, and calls no service. */
export function diagnose(RED: NodeAPI): Diagnostics {
  const apps = runningApps();
  const errors = apps.flatMap(errorsOf).sort((a, b) => b.at - a.at);
  return {
    versions: {
      package: VERSION,
      // Node-RED gives it to all, which its types leave out.
      nodeRed: String((RED.settings as { version?: unknown }).version),
      node: process.version,
      os: `${platform()} ${release()} ${process.arch}`,
    },
    apps: apps.map((node) => ({
      id: node.id,
      settings: settingsOf(RED, node),
      counts: countsOf(node),
    })),
    errors: errors.slice(0, ERRORS),
  };
}
