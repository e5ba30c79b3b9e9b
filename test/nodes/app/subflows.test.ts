import assert from 'node:assert/strict';
import type { AppChoice, FleetAnswer } from '../../../nodes/app/answers.config';
import type { FlowNode } from '../../tooling/node-red/nodes';
import { until } from '../../tooling/until';
import { deploy, load, node, simulatorApp } from '../support/flow';
import { read } from '../support/routes';
import { useNodeRed } from '../support/node-red';

const apps = (): Promise<AppChoice[]> => read('apps');

const instance = (id: string, name: string): FlowNode => ({
  ...{ id, type: 'subflow:sub', name, z: 'tab', x: 0, y: 0, wires: [], env: [] },
});

describe('applications inside a subflow', () => {
  useNodeRed();

  it('are listed once for each instance, which the routes know; none is left when the instance is gone', async () => {
    const flow = (...instances: FlowNode[]): FlowNode[] => [
      { id: 'sub', type: 'subflow', name: 'Row', in: [], out: [], env: [] },
      simulatorApp({ z: 'sub', name: 'Greenhouse' }),
      node('listen', { z: 'sub', chipids: ['10000001'], wires: [] }),
      ...instances,
    ];
    await load(flow(instance('a', 'north'), instance('b', '')));
    const found = await apps();
    assert.deepEqual(
      found.map(({ name, service, template }) => [name, service, template]),
      [
        ['Greenhouse · north', 'simulator', 'app'],
        ['Greenhouse · b', 'simulator', 'app'],
      ],
    );
    assert.equal(new Set(found.map(({ id }) => id)).size, 2);
    for (const { id } of found) {
      await until(async () => {
        const { devices } = await read<FleetAnswer>(`apps/${id}/fleet`);
        return devices.some(({ chipid, channel }) => chipid === '10000001' && channel);
      }, 'its device is shown');
      assert.ok((await read<object[]>(`apps/${id}/devices`)).length > 0);
      await read(`apps/${id}/waiting`);
    }
    const { apps: diagnosed } = await read<{ apps: { id: string }[] }>('diagnostics');
    assert.deepEqual(
      diagnosed.map(({ id }) => id),
      found.map(({ id }) => id),
    );
    await deploy(flow(instance('a', 'north')));
    assert.deepEqual(
      (await apps()).map(({ name }) => name),
      ['Greenhouse · north'],
    );
  });
});
