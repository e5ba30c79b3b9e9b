import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { NodeAPI } from 'node-red';
import { addRoutes, registerNode } from '../common/register';
import type { SharedSimulator } from './simulator';

/** The events of the Node-RED that are listened to: its modules may be called again, as tests do. */
const followed = new WeakSet<NodeAPI['events']>();

/** Milliseconds between two looks at folders of applications that are in no flow. */
const DAY = 24 * 60 * 60_000;

/** Removes what applications keep that are gone: they have no node that could. */
function followRemovals(RED: NodeAPI): void {
  if (followed.has(RED.events)) return;
  followed.add(RED.events);
  const tidy = (removed: readonly string[]): void => {
    const { userDir } = RED.settings;
    if (!userDir || !existsSync(join(userDir, 'device-cloud'))) return;
    const runtime = require('./app.runtime') as typeof import('./app.runtime');
    void runtime.tidy(RED, removed);
  };
  let days: NodeJS.Timeout | undefined;
  RED.events.on('flows:started', ({ diff }: { diff?: { removed?: string[] } } = {}) => {
    days ??= setInterval(() => tidy([]), DAY).unref();
    tidy(diff?.removed ?? []);
  });
}

export = function (RED: NodeAPI): void {
  const simulator: SharedSimulator = {};
  followRemovals(RED);
  const loadNode = () => {
    const { appRuntime } = require('./app.runtime') as typeof import('./app.runtime');
    return { runtime: appRuntime(simulator) };
  };
  const loadRoutes = () => {
    const { appRoutes } = require('./admin') as typeof import('./admin');
    return { handlers: appRoutes(simulator) };
  };
  registerNode(RED, 'device-cloud-app', loadNode, {
    credentials: {
      appkey: { type: 'password' },
      serverKey: { type: 'text' },
      serverPassword: { type: 'password' },
    },
  });
  const apps = '/device-cloud/apps';
  addRoutes(
    RED,
    {
      devices: ['get', `${apps}/:id/devices`, 'device-cloud.read'],
      unsavedDevices: ['post', `${apps}/devices`, 'device-cloud.write'],
      test: ['post', `${apps}/test`, 'device-cloud.write'],
      apps: ['get', apps, 'device-cloud.read'],
      fleet: ['get', `${apps}/:id/fleet`, 'device-cloud.read'],
      details: ['get', `${apps}/:id/devices/:chipid`, 'device-cloud.read'],
      diagnostics: ['get', '/device-cloud/diagnostics', 'device-cloud.read'],
      metrics: ['get', '/device-cloud/metrics', 'device-cloud.read'],
      refresh: ['post', `${apps}/:id/devices/:chipid/refresh`, 'device-cloud.write'],
      push: ['post', `${apps}/:id/devices/:chipid/push`, 'device-cloud.write'],
      gpio: ['post', `${apps}/:id/devices/:chipid/gpio`, 'device-cloud.write'],
      value: ['post', `${apps}/:id/devices/:chipid/value`, 'device-cloud.write'],
      book: ['get', `${apps}/:id/book`, 'device-cloud.read'],
      writeBook: ['put', `${apps}/:id/book`, 'device-cloud.write'],
      waiting: ['get', `${apps}/:id/waiting`, 'device-cloud.read'],
      cancel: ['post', `${apps}/:id/waiting/cancel`, 'device-cloud.write'],
      record: ['post', `${apps}/:id/record`, 'device-cloud.write'],
    },
    loadRoutes,
  );
};
