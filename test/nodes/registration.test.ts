import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '../tooling/repository';

const execute = promisify(execFile);

const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
  'node-red': { nodes: Record<string, string> };
};
const nodes = Object.entries(manifest['node-red'].nodes);

/** Registers all nodes in a process of their own, as Node-RED does, and says what that has loaded. */
const SCRIPT = `
  const [folder, ...entries] = process.argv.slice(1);
  const [types, routes] = [[], []];
  const add = (method) => (path, permission) => routes.push([method, path, permission].join(' '));
  const RED = {
    nodes: { registerType: (type) => types.push(type) },
    httpAdmin: { get: add('get'), post: add('post'), put: add('put') },
    auth: { needsPermission: (permission) => permission },
    events: { on: () => undefined },
  };
  for (const entry of entries) require(require('node:path').join(folder, entry))(RED);
  console.log(JSON.stringify({ types, routes, loaded: Object.keys(require.cache) }));`;

/** What a registration needs: the node's own entry, its type, and how types and routes are added. */
const NEEDED = /^dist\/nodes\/(?:([^/]+)\/\1|common\/register)\.js$/;

describe('the start of Node-RED with the package', () => {
  it('registers each node and route, and loads nothing that is needed only later', async () => {
    const entries = nodes.map(([, path]) => path);
    const { stdout } = await execute(process.execPath, ['-e', SCRIPT, repository, ...entries]);
    const { types, routes, loaded } = JSON.parse(stdout) as Record<string, string[]>;
    assert.deepEqual(
      types,
      nodes.map(([name]) => `device-cloud-${name}`),
    );
    assert.deepEqual(routes?.sort(), [
      'get /device-cloud/apps device-cloud.read',
      'get /device-cloud/apps/:id/book device-cloud.read',
      'get /device-cloud/apps/:id/devices device-cloud.read',
      'get /device-cloud/apps/:id/devices/:chipid device-cloud.read',
      'get /device-cloud/apps/:id/fleet device-cloud.read',
      'get /device-cloud/apps/:id/waiting device-cloud.read',
      'get /device-cloud/diagnostics device-cloud.read',
      'get /device-cloud/metrics device-cloud.read',
      'post /device-cloud/apps/:id/devices/:chipid/gpio device-cloud.write',
      'post /device-cloud/apps/:id/devices/:chipid/push device-cloud.write',
      'post /device-cloud/apps/:id/devices/:chipid/refresh device-cloud.write',
      'post /device-cloud/apps/:id/devices/:chipid/value device-cloud.write',
      'post /device-cloud/apps/:id/record device-cloud.write',
      'post /device-cloud/apps/:id/waiting/cancel device-cloud.write',
      'post /device-cloud/apps/devices device-cloud.write',
      'post /device-cloud/apps/test device-cloud.write',
      'put /device-cloud/apps/:id/book device-cloud.write',
    ]);
    const security = readFileSync(join(repository, 'SECURITY.md'), 'utf8');
    for (const route of routes ?? []) {
      const [, method = '', path] = /^(\w+) \/device-cloud\/apps\/(.*) .*write$/.exec(route) ?? [];
      const name = `\`${method.toUpperCase()} ${path}\``;
      assert.ok(path === undefined || security.includes(name), `SECURITY.md lacks ${name}`);
    }
    const files = loaded?.map((path) => relative(repository, path).replaceAll('\\', '/')) ?? [];
    assert.ok(files.length >= nodes.length, files.join(' '));
    assert.deepEqual(
      files.filter((path) => !NEEDED.test(path)),
      [],
    );
  });
});
