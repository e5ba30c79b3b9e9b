import assert from 'node:assert/strict';
import { httpService, json } from '../tooling/servers/http-service';
import { until } from '../tooling/until';
import { cloudApp, load, node } from './support/flow';
import { logged, shows, statusesOf } from './support/messages';
import { useNodeRed } from './support/node-red';

describe('records of the list of online devices that name no device', () => {
  useNodeRed();
  const linesOf = (kind: string): string[] => logged(/chip number/, kind);

  /** A service with a list and no channels. */
  async function start(kind: string, list: unknown) {
    const service = await httpService((response, request, count) =>
      request.path.includes('/devices/') ? json(list)(response, request, count) : response.end(),
    );
    const more = kind === 'listen' ? { devices: 'online' } : {};
    await load([
      cloudApp({ baseUrl: service.baseUrl, appid: '10001' } as never),
      node(kind, { refresh: '1', ...more }),
    ]);
    await until(() => service.requests.length >= 3, 'the list is read several times');
  }

  for (const kind of ['listen', 'events']) {
    it(`are one line of the log of ${kind}, whatever the number of readings`, async () => {
      await start(kind, [{ chip_id: 1 }, { chipid: 77 }, { chipid: null }]);
      const lines = linesOf(kind);
      assert.equal(lines.length, 1, lines.join('\n'));
      assert.match(lines[0]!, /2 records/);
    });

    it(`turn ${kind} red if there are no others`, async () => {
      await start(kind, [{ chip_id: 1 }]);
      await shows(kind, 'status.invalid-response');
      assert.equal((statusesOf(kind).at(-1) as { fill?: string }).fill, 'red');
      assert.equal(linesOf(kind).length, 1);
    });
  }
});
