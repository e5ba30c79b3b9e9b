import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { app, placed, TAB, type FlowNode } from '../tooling/node-red/nodes';
import { BARE, keep } from '../tooling/process';
import { repository } from '../tooling/repository';
import { until } from '../tooling/until';
import { ONE, TWO } from './harness/devices';
import { request } from './harness/request';
import { useWorld } from './harness/world';

/** Opens the valve at pin 5 of a device that is warm, and tells the device so. */
const flowOf = (application: FlowNode, limit: number): FlowNode[] => [
  ...[TAB, application],
  placed('listen', { chipids: [ONE, TWO] }, { wires: [['rule']] }),
  {
    ...{ id: 'rule', type: 'function', outputs: 2, z: 'tab', x: 100, y: 100 },
    wires: [['gpio'], ['push']],
    func: `const { chipid, payload } = msg;
return payload.t > ${limit} ? [{ chipid, payload: 1 }, { chipid, payload: { open: payload.t } }] : null;`,
  },
  placed('gpio', { pin: '5', pinType: 'num' }),
  placed('push'),
];

describe('a test that is recorded in the editor', () => {
  const here = useWorld((service) => flowOf(app(service), 24), { devices: 2 });
  before(() => until(() => here.simulator.channels() === 2, 'both channels are open'));

  const record = (body: object): Promise<Response> =>
    request(`${here.red.url}/device-cloud/apps/app/record`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  const runTest = async (limit: number): Promise<{ end: string; text: string }> => {
    const flows = join(here.red.userDir, `tested-${limit}.json`);
    await writeFile(flows, JSON.stringify(flowOf(app(here.simulator), limit)));
    const cli = join(repository, 'dist', 'flow-test', 'cli.js');
    const parameters = [flows, join(here.red.userDir, 'recorded.yaml'), '--node-red', repository];
    const env = { ...process.env, ...BARE };
    const child = keep('device-cloud-test', spawn(process.execPath, [cli, ...parameters], { env }));
    child.crashed.catch(() => undefined);
    return { end: await child.ended, text: child.log() };
  };

  it('passes with the same flow, and fails with one that does otherwise', async () => {
    const service = here.simulator;
    assert.equal((await record({ action: 'start', chipids: [ONE, TWO] })).status, 200);
    service.upload(ONE, { t: 21 });
    service.upload(ONE, { t: 25 });
    await until(() => service.device(ONE).sets.length === 1, 'the valve was set');
    await until(() => service.device(ONE).received.length === 1, 'the push has come');
    service.upload(TWO, { t: 23 });
    // Its answer says that the uploads before it have come.
    service.upload(TWO, { t: 26 });
    await until(() => service.device(TWO).received.length === 1, 'the last push has come');
    await here.red.logged(/./);
    const stopped = await record({ action: 'stop' });
    assert.equal(stopped.status, 200);
    const yaml = await stopped.text();
    for (const secret of [service.appkey, service.serverPassword, 'devkey'])
      assert.ok(!yaml.includes(secret), yaml);
    await writeFile(join(here.red.userDir, 'recorded.yaml'), yaml);

    const [same, other] = await Promise.all([runTest(24), runTest(25)]);
    assert.equal(same.end, 'exit code 0', `${same.text}\n${yaml}`);
    assert.equal(other.end, 'exit code 1', other.text);
    assert.match(other.text, /expected .*pin 5/);
  });
});
