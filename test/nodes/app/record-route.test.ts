import assert from 'node:assert/strict';
import { readTests } from '../../../flow-test/tests';
import type { FleetAnswer } from '../../../nodes/app/answers.config';
import { cloudApp, deploy, node } from '../support/flow';
import { startWith, useNodeRed } from '../support/node-red';
import { ask, audited, read } from '../support/routes';
import { until } from '../../tooling/until';

const ONE = '10000001';

describe('the recording of a test in the editor', () => {
  useNodeRed();
  const record = (body: object) => ask('apps/app/record', { body });
  const state = async (): Promise<FleetAnswer['recording']> =>
    (await read<FleetAnswer>('apps/app/fleet')).recording;

  async function listening() {
    const cloud = await startWith({ ...node('listen', { chipids: [ONE] }), id: 'listen' });
    await until(() => cloud.channels(ONE) === 1, 'the channel is open');
    return cloud;
  }

  it('begins, shows in the fleet what it has, and ends with a test as YAML, which can be had again', async () => {
    const cloud = await listening();
    assert.equal(await state(), undefined);
    assert.equal((await record({ action: 'start', chipids: [ONE] })).status, 200);
    cloud.upload(ONE, { t: 21 });
    await until(async () => (await state())?.uploads === 1, 'the upload is recorded');
    assert.equal((await state())?.isOver, false);
    assert.equal((await record({ action: 'start' })).status, 409);
    const stopped = await record({ action: 'stop' });
    assert.equal(stopped.status, 200);
    assert.match(String(stopped.headers['content-type']), /^text\/yaml/);
    const [test] = readTests(stopped.text, 'recorded.yaml');
    assert.deepEqual(test?.given, [{ kind: 'upload', chipid: ONE, payload: { t: 21 } }]);
    assert.equal((await state())?.isOver, true);
    cloud.upload(ONE, { t: 22 });
    assert.equal((await record({ action: 'stop' })).text, stopped.text);
    assert.equal((await record({ action: 'start', chipids: null })).status, 200);
    assert.equal((await state())?.uploads, 0);
  });

  it('is refused without a recording or a right action', async () => {
    await listening();
    assert.equal((await record({ action: 'stop' })).status, 409);
    assert.equal((await record({ action: 'pause' })).status, 400);
    assert.equal((await record({ action: 'start', chipids: ['x'] })).status, 400);
  });

  it('goes on over a deploy of the nodes, ends with one of the application, and is audited', async () => {
    const cloud = await listening();
    await record({ action: 'start', chipids: [ONE] });
    await deploy([cloudApp(cloud), node('push')], 'nodes');
    assert.equal((await state())?.isOver, false);
    await deploy([cloudApp(cloud, { timeout: 14 }), node('push')], 'nodes');
    assert.equal(await state(), undefined);
    assert.equal((await record({ action: 'stop' })).status, 409);
    assert.match(JSON.stringify(audited()), /"device-cloud.apps.record".*"start".*10000001/);
  });
});
