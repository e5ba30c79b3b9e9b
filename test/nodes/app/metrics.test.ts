import assert from 'node:assert/strict';
import parsePrometheus from 'parse-prometheus-text-format';
import type { FleetAnswer } from '../../../nodes/app/answers.config';
import type { Simulator } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { openWithRecovery } from '../support/listening';
import { cloudApp, load, node, simulatorApp } from '../support/flow';
import { arrivedAt, call, fail, post, shows } from '../support/messages';
import { ask, read } from '../support/routes';
import { startCloud, useNodeRed } from '../support/node-red';

const [ONE, TWO] = ['10000001', '10000002'];

/** Every sample, as a Prometheus would read it: `name{label="value"}` and its value. */
async function scrape(): Promise<Map<string, number>> {
  const { text, headers, status } = await ask('metrics');
  assert.equal(status, 200);
  assert.match(String(headers['content-type']), /^text\/plain;.* version=0\.0\.4/);
  return new Map(
    parsePrometheus(text).flatMap(({ name, metrics }) =>
      metrics.map(({ labels, value }): [string, number] => {
        const shown = Object.entries(labels ?? {}).map(([label, of]) => `${label}=${of}`);
        return [`${name.replace('device_cloud_', '')}{${shown.sort().join()}}`, Number(value)];
      }),
    ),
  );
}

describe('the metrics', () => {
  useNodeRed();
  let cloud: Simulator;

  it('count devices, channels, uploads and commands, for each application by its name', async () => {
    cloud = await startCloud({ devices: 3 });
    const push = node('push', { chipid: ONE, chipidType: 'str' });
    const later = node('push', { id: 'later', when: 'upload' });
    await openWithRecovery(cloud, [ONE], { name: 'Green "1"\\' }, push, later, node('devices'));
    await call('devices', {});
    cloud.upload(ONE, 'live');
    await until(() => arrivedAt('out').length > 0, 'it has arrived');
    await call('push', { payload: 'x' });
    cloud.fail('gateway', { path: 'dev/push', times: 1 });
    await fail('push', { payload: 'x' }, 'GATEWAY');
    post('later', { chipid: TWO, payload: 'x' });
    await shows('later', 'status.awaiting-device');
    cloud.disconnect(ONE);
    cloud.upload(ONE, 'missed');
    await until(() => arrivedAt('out').some(({ payload }) => payload === 'missed'), 'it is back');
    const found = await scrape();
    const own = (name: string, labels = ''): number | undefined =>
      found.get(`${name}{application=Green "1"\\${labels}}`);
    await until(async () => (await scrape()).get('channels{application=Green "1"\\,state=connected}') === 2); // prettier-ignore
    assert.deepEqual(
      [own('devices'), own('devices_online'), own('uploads_total'), own('uploads_replayed_total')],
      // One that the cloud could not reach is offline.
      [3, 2, 1, 1],
    );
    assert.equal(own('commands_total', ',call=push,code=OK'), 1);
    assert.equal(own('commands_total', ',call=push,code=GATEWAY'), 1);
    assert.deepEqual([own('commands_waiting'), own('held_back_bytes')], [1, 0]);
    assert.ok(Number(own('list_age_seconds')) < 60);
    assert.ok(![...found.keys()].some((key) => key.includes(ONE!)), 'no series of a device');
  });

  it('have no two samples with the same labels, whatever the applications are called', async () => {
    const instance = (id: string) => ({ id, type: 'subflow:sub', z: 'tab', x: 0, y: 0, wires: [] });
    await load([
      { id: 'sub', type: 'subflow', name: 'Row', in: [], out: [], env: [] },
      simulatorApp({ id: 'inside', z: 'sub', name: 'House' }),
      node('push', { z: 'sub', app: 'inside', wires: [] }),
      ...['a', 'b'].map(instance),
      ...['c', 'd'].map((id) => simulatorApp({ id, name: 'House' })),
      ...['c', 'd', 'e', 'f'].map((id) => node('push', { id: `push-${id}`, app: id })),
      simulatorApp({ id: 'e', name: 12 }),
      simulatorApp({ id: 'f' }),
    ]);
    const series = async (): Promise<string[]> => {
      const { text } = await ask('metrics');
      return text.split('\n').filter((line) => line.startsWith('device_cloud_devices{'));
    };
    await until(async () => (await series()).length === 6, 'the simulator has started');
    const names = (await series()).map((line) => /application="(.*)"/.exec(line)?.[1]);
    assert.deepEqual(names.sort(), [
      ...['12', 'House (c)', 'House (d)', 'House · a', 'House · b', 'f'],
    ]);
  });

  it('count what waits for an acknowledgement, and since when', async () => {
    cloud = await startCloud();
    const listen = node('listen', { chipids: [ONE, TWO], acknowledge: 'ack' });
    await load([cloudApp(cloud, { name: 'A' }), listen]);
    await shows('listen', '2/2');
    for (const body of ['first', 'second']) cloud.upload(ONE!, body);
    cloud.upload(TWO!, 'x');
    await until(() => arrivedAt('out').length === 2, 'both have come');
    const found = await scrape();
    assert.equal(found.get('uploads_unacknowledged{application=A}'), 2);
    assert.ok(found.get('uploads_unacknowledged_seconds{application=A}')! > 0);
    const { unacknowledged } = await read<FleetAnswer>('apps/app/fleet?since=0');
    assert.equal(unacknowledged?.count, 2);
    assert.ok(Math.abs(Date.now() - unacknowledged.since) < 60_000);
  });
});
