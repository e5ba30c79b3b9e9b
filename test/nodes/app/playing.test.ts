import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import helper from 'node-red-node-test-helper';
import type { RecordingAnswer, TestResult } from '../../../nodes/app/answers.config';
import { inEachDialect } from '../../../tooling/dialect';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call, fail } from '../support/messages';
import { startCloud, useNodeRed, userDir } from '../support/node-red';

const DEVICE = '10000001';
const folder = temporaryFolder('playing');
const playedApp = (recording: string): ReturnType<typeof cloudApp> => ({
  ...{ id: 'app', type: 'device-cloud-app', service: 'recording', recording },
});
const listen = node('listen', { devices: 'list', chipids: [DEVICE], datatype: 'utf8' });
const uploads = (): unknown[] =>
  journal.arrived
    .filter(({ msg }) => msg.topic === DEVICE || 'timestamp' in msg)
    .map(({ msg }) => msg.payload);

inEachDialect('an application that plays a recording', () => {
  useNodeRed();

  it('gives the uploads and the answers of the one that was recorded', async () => {
    const cloud = await startCloud({ devices: 1 });
    await load([cloudApp(cloud), node('push'), listen]);
    await until(() => cloud.channels() === 1);
    const route = '/device-cloud/apps/app/recording';
    await helper.request().post(route).send({ action: 'start' });
    for (const text of ['one', 'two', 'three']) cloud.upload(DEVICE, text);
    await until(() => uploads().length === 3);
    cloud.fail('gateway', { times: 1 });
    await fail('push', { chipid: DEVICE, payload: 'x' } as never, 'GATEWAY');
    await call('push', { chipid: DEVICE, payload: 'x' });
    await helper.request().post(route).send({ action: 'stop' });
    const { recordings } = (await helper.request().get(route)).body as RecordingAnswer;
    const file = join(folder, 'one.jsonl');
    copyFileSync(join(userDir, 'device-cloud', 'recordings', recordings[0]!.name), file);
    const recorded = uploads();

    await helper.unload();
    journal.arrived.splice(0);
    await load([playedApp(file), node('push'), listen]);
    await until(() => uploads().length === 3);
    assert.deepEqual(uploads(), recorded);
    await fail('push', { chipid: DEVICE, payload: 'x' } as never, 'GATEWAY');
    await call('push', { chipid: DEVICE, payload: 'x' });
    await until(() =>
      journal.logs.some(({ msg }) => String(msg).includes('The recording has ended')),
    );
  });
});

describe('an application that plays a recording', () => {
  useNodeRed();

  it('says what is wrong with its file, to every message and in the test', async () => {
    const file = join(folder, 'none.jsonl');
    writeFileSync(file, 'nothing\n');
    await load([playedApp(file), node('push')]);
    await fail('push', { chipid: DEVICE, payload: 'x' } as never, 'NOT_CONFIGURED');
    const answer = await helper
      .request()
      .post('/device-cloud/apps/test')
      .send({ service: 'recording', recording: file });
    const { openApi } = answer.body as TestResult;
    assert.match(openApi?.message ?? '', /is no recording/);
  });
});
