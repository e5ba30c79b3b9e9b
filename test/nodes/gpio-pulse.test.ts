import assert from 'node:assert/strict';
import { until } from '../tooling/until';
import { cloudApp, deploy, load, node } from './support/flow';
import { journal } from './support/journal';
import { arrivedAt, call, post } from './support/messages';
import { leaveCommand, startCloud, startWith, useNodeRed } from './support/node-red';

describe('a gpio node that pulses', () => {
  useNodeRed();
  const chipid = '10000001';
  const pulse = (properties: object = {}) => node('gpio', { operation: 'pulse', ...properties });

  it('sets the pin, waits, and sets it back', async () => {
    const cloud = await startWith(pulse({ duration: '30' }));
    const { _msgid, ...out } = await call('gpio', { chipid, pin: 5, payload: 'on' });
    assert.ok(_msgid);
    assert.deepEqual(out, { chipid, pin: 5, payload: { result: 'OK' }, statusCode: 200 });
    const paths = cloud.requests.map(({ path }) => path);
    assert.deepEqual(
      paths,
      [1, 0].map((edge) => `/openapi/set_gpio_edge/${chipid}/5/${edge}/`),
    );
  });

  it('sets the pin back before a redeploy ends, also one of the application', async () => {
    const cloud = await startCloud({ answerDelay: 50 });
    await load([cloudApp(cloud), pulse({ duration: 60_000 })]);
    post('gpio', { chipid, pin: 5, payload: 1 });
    await until(() => cloud.device(chipid).levels[5] === '1', 'the pin is set');
    await deploy([]);
    assert.equal(cloud.device(chipid).levels[5], '0');
    const { code, message } = journal.endings[0]!.error as { code: string; message: string };
    assert.equal(code, 'CONNECTION_LOST');
    assert.match(message, /the node was closed.* was left at low \(0\)\.$/);
    assert.equal(cloud.requests.length, 2);
  });

  it('that was under way when Node-RED was killed says at which level it may have left the pin', async () => {
    const plan = { call: 'pulseGpio', args: [5, 1], options: { when: 'upload', duration: 500 } };
    const what = { settings: 'as before', what: { plan, isMany: false, msg: { topic: 'kept' } } };
    const command = {
      ...{ path: `pulse/${chipid}/5/1/`, when: 'upload', expires: 60, left: 60_000, at: null },
      ...{ order: 1, node: 'gpio', what },
    };
    await leaveCommand(chipid, 'id', { ...command, isBegun: true });
    await startWith(pulse({ when: 'upload' }));
    await until(() => arrivedAt('caught').length === 1, 'it has ended');
    const { topic, error } = arrivedAt('caught')[0] as unknown as {
      topic: string;
      error: { message: string };
    };
    assert.equal(topic, 'kept');
    assert.match(error.message, /^TIMEOUT: .* Pin 5 may have been left at high \(1\): check it\.$/);
  });
});
