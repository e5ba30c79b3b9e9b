import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { NodeAPI } from 'node-red';
import helper from 'node-red-node-test-helper';
import type { TestResult } from '../../../nodes/app/answers.config';
import { httpService, json } from '../../tooling/servers/http-service';
import { until } from '../../tooling/until';
import { cloudApp, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CANARIES } from '../support/secrets';
import { CHIPID, rowsOf, WORKS, type Row } from './row';

const row = rowsOf('editor');

/** What the Test button does. @returns the code that it failed with, as the table writes it */
async function test(settings: object): Promise<string> {
  const answer = await helper.request().post('/device-cloud/apps/test').send(settings);
  journal.answers.push(answer.text);
  assert.equal(answer.status, 200, answer.text);
  const { openApi } = answer.body as TestResult;
  return openApi?.ok ? 'ok' : `\`${openApi?.code}\``;
}

const elsewhere = row(
  'the test of a stored application with another address',
  '`NOT_CONFIGURED`',
  'nothing sent, the test with the deployed address works',
  async () => {
    const cloud = await startCloud();
    const other = await httpService(json({ name: 'x', online: [] }));
    await load([cloudApp(cloud), node('push')]);
    const { baseUrl, appid } = cloud;
    const failed = await test({ id: 'app', baseUrl: other.baseUrl, appid });
    assert.equal(other.requests.length + cloud.requests.length, 0);
    assert.equal(await test({ id: 'app', baseUrl, appid }), 'ok');
    return failed;
  },
);

const VARIABLE = 'DEVICE_CLOUD_TEST_VARIABLE';

const variable = row(
  '`${NAME}` in a test, from a user who may not write flows',
  '`NOT_CONFIGURED`',
  'nothing sent, the same test works for a user who may',
  async () => {
    const { baseUrl, appid } = await startCloud();
    const other = await httpService(json({ name: 'x', online: [] }));
    let auth: NodeAPI['auth'] | undefined;
    await load([], {}, [(RED) => void (auth = RED.auth)]);
    assert.ok(auth);
    const needsPermission = auth.needsPermission.bind(auth);
    const settings = { appid, credentials: { appkey: `\${${VARIABLE}}` } };
    process.env[VARIABLE] = CANARIES.appkey;
    try {
      auth.needsPermission = () => (_request, response) => void response.status(401).end();
      const failed = await test({ ...settings, baseUrl: other.baseUrl });
      assert.equal(other.requests.length, 0);
      auth.needsPermission = needsPermission;
      assert.equal(await test({ ...settings, baseUrl }), 'ok');
      return failed;
    } finally {
      auth.needsPermission = needsPermission;
      Reflect.deleteProperty(process.env, VARIABLE);
    }
  },
);

const page = rowsOf('simulator')(
  'a web page of another origin that reboots a device',
  '`403`',
  `the device stays up, ${WORKS}`,
  async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('reboot')]);
    await call('reboot', { chipid: CHIPID });
    // Signed well: whatever a page may have found out, it is the origin that is refused.
    const { method, path, query } = cloud.requests.at(-1)!;
    const url = `${cloud.baseUrl}${path}?${query}`;
    const from = (headers: Record<string, string>): Promise<number> =>
      new Promise((resolve, reject) => {
        const sent = request(url, { method, headers, agent: false });
        sent.on('response', (response) => resolve(response.resume().statusCode ?? 0));
        sent.on('error', reject).end();
      });
    const isBack = (): Promise<void> =>
      until(() => cloud.device(CHIPID).online, 'the device is back from its reboot');
    const status = await from({ origin: 'https://elsewhere.example' });
    await isBack();
    assert.equal(await from({}), 200);
    await isBack();
    await call('reboot', { chipid: CHIPID });
    return `\`${status}\``;
  },
);

export const EDITOR: readonly Row[] = [elsewhere, variable, page];
