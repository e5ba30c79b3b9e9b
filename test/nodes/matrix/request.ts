import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import type { Simulator, SimulatorOptions } from '../../../src/simulator';
import { until } from '../../tooling/until';
import { cloudApp, deploy, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call, post, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CHIPID, codeOf, NOTHING, payloads, rowsOf, said, WORKS, type Row } from './row';

const row = rowsOf('request');

const byId = { match: 'property', property: 'id', equals: 'payload.id', equalsType: 'msg' };
const ask = (id: number) => ({ chipid: CHIPID, payload: { id } });

async function requesting(
  properties: object = {},
  options: SimulatorOptions = {},
): Promise<Simulator> {
  const cloud = await startCloud(options);
  await load([cloudApp(cloud), node('request', { ...byId, ...properties })]);
  return cloud;
}

const pushes = (cloud: Simulator): (string | undefined)[] =>
  cloud.device(CHIPID).received.map(({ text }) => text);

const pushed = (cloud: Simulator, id: number): Promise<void> =>
  until(() => pushes(cloud).at(-1) === JSON.stringify({ id }), `push ${id} has arrived`);

/** Lets a request be pushed, and its device answer. */
async function answered(cloud: Simulator, id: number, reply: unknown): Promise<NodeMessage> {
  const out = call('request', ask(id));
  await pushed(cloud, id);
  cloud.upload(CHIPID, reply);
  return out;
}

/** The next request is answered, and nothing was emitted but what a row has seen. */
async function works(cloud: Simulator, seen: readonly unknown[], id = 100): Promise<void> {
  await answered(cloud, id, { id });
  assert.deepEqual(payloads(), [...seen, { id }]);
}

const early = row(
  'reply before the answer',
  NOTHING,
  `emitted with the answer, ${WORKS}`,
  async () => {
    const cloud = await requesting({}, { offlineAfter: 10_000 });
    cloud.delay(CHIPID, 200);
    const { payload, answer } = (await answered(cloud, 1, { id: 1 })) as NodeMessage & {
      answer: unknown;
    };
    assert.deepEqual([payload, answer], [{ id: 1 }, { msg: 'OK' }]);
    cloud.delay(CHIPID, 0);
    await works(cloud, [{ id: 1 }]);
    return said();
  },
);

const hung = { path: 'dev/push', acts: true, times: 1 };

const replied = row(
  'push not answered, and a reply',
  NOTHING,
  `\`uncertain\`, ${WORKS}`,
  async () => {
    const cloud = await requesting({ timeout: '3' });
    cloud.fail('hang', hung);
    const { uncertain } = (await answered(cloud, 1, { id: 1 })) as { uncertain?: boolean };
    assert.equal(uncertain, true);
    await works(cloud, [{ id: 1 }]);
    return said();
  },
);

const unanswered = row('push not answered, and no reply', '`TIMEOUT`', WORKS, async () => {
  const cloud = await requesting({ timeout: '3', replyTimeout: '4' });
  cloud.fail('hang', hung);
  const failed = await codeOf('request', ask(1));
  // Too late, and not the next request's.
  cloud.upload(CHIPID, { id: 1 });
  await works(cloud, []);
  return failed;
});

const lost = row(
  'channel lost while waiting',
  NOTHING,
  `the reply comes from the history, \`replayed\`; ${WORKS}`,
  async () => {
    const cloud = await requesting();
    const answer = call('request', ask(1));
    await shows('request', 'status.awaiting-reply');
    const heal = cloud.fail('reset-upgrade');
    cloud.disconnect(CHIPID);
    await until(() => cloud.channels() === 0, 'the channel is closed');
    cloud.upload(CHIPID, { id: 1 });
    heal();
    assert.equal((await answer)['replayed' as keyof NodeMessage], true);
    await works(cloud, [{ id: 1 }]);
    return said();
  },
);

const HOSTILE = 'a'.repeat(40);

const hostile = row(
  'a pattern that backtracks without end',
  NOTHING,
  'not the reply; the next upload is judged',
  async () => {
    const cloud = await requesting({ match: 'pattern', pattern: '^(a+)+$' });
    const out = call('request', ask(1));
    await pushed(cloud, 1);
    cloud.upload(CHIPID, `${HOSTILE}!`);
    cloud.upload(CHIPID, HOSTILE);
    assert.equal((await out).payload, HOSTILE);
    return said();
  },
);

const nested = row('an upload of 5 KB of brackets', NOTHING, `passed over, ${WORKS}`, async () => {
  const cloud = await requesting();
  const out = call('request', ask(1));
  await pushed(cloud, 1);
  cloud.upload(CHIPID, '['.repeat(2500) + ']'.repeat(2500));
  cloud.upload(CHIPID, { id: 1 });
  await out;
  await works(cloud, [{ id: 1 }]);
  return said();
});

const closed = row('node closed while it waits', '`CONNECTION_LOST`', WORKS, async () => {
  const cloud = await requesting();
  post('request', ask(1));
  await shows('request', 'status.awaiting-reply');
  await deploy([cloudApp(cloud), node('request', { ...byId, name: 'second' })]);
  // No longer awaited.
  cloud.upload(CHIPID, { id: 1 });
  await works(cloud, []);
  assert.deepEqual(pushes(cloud), ['{"id":1}', '{"id":100}']);
  const codes = journal.endings.flatMap(({ error }) =>
    error ? [(error as { code: string }).code] : [],
  );
  return codes.map((code) => `\`${code}\``).join(', ');
});

export const REQUEST: readonly Row[] = [early, replied, unanswered, lost, hostile, nested, closed];
