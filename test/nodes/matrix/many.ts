import assert from 'node:assert/strict';
import type { NodeMessage } from 'node-red';
import { until } from '../../tooling/until';
import { cloudApp, deploy, load, node } from '../support/flow';
import { journal } from '../support/journal';
import { call, post } from '../support/messages';
import { startCloud } from '../support/node-red';
import { CHIPID, codeOf, rowsOf, WORKS, type Row } from './row';

const row = rowsOf('many');
const push = node('push', { many: true, atOnce: 2 });

/** The code of the first message that ended, as the table writes it. */
const firstCode = (): string => `\`${(journal.endings[0]!.error as { code: string }).code}\``;

const closed = row(
  'node closed in the middle of a list',
  '`CONNECTION_LOST`',
  `two \`uncertain\`, the others \`failed\` and not sent; ${WORKS}`,
  async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), push]);
    cloud.fail('hang');
    const chipid = [...cloud.devices.keys(), '7'];
    const msg: NodeMessage & { failed?: unknown; uncertain?: unknown } = { payload: 'x' };
    post('push', Object.assign(msg, { chipid }));
    await until(() => cloud.requests.length === 2, 'two are under way');
    await deploy([cloudApp(cloud), { ...push, name: 'second' }]);
    assert.deepEqual([msg.uncertain, msg.failed], [chipid.slice(0, 2), chipid.slice(2)]);
    assert.equal(cloud.requests.length, 2);
    cloud.heal();
    const { payload } = await call('push', { chipid: [CHIPID], payload: 'good' });
    assert.equal((payload as { ok: boolean }[])[0]?.ok, true);
    return firstCode();
  },
);

const pulse = { operation: 'pulse', duration: 50 };

const unknown = row(
  'pulse whose first set is not answered',
  '`TIMEOUT`',
  `the opposite is sent once; ${WORKS}`,
  async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('gpio', { ...pulse, timeout: '1' })]);
    cloud.fail('hang', { acts: true, times: 1 });
    const edges = (): string[] => cloud.requests.map(({ path }) => path.slice(-3, -1));
    const failed = await codeOf('gpio', { chipid: CHIPID, pin: 5, payload: 1 });
    assert.deepEqual([edges(), cloud.device(CHIPID).levels[5]], [['/1', '/0'], '0']);
    await call('gpio', { chipid: CHIPID, pin: 5, payload: 1 });
    assert.deepEqual(edges(), ['/1', '/0', '/1', '/0']);
    return failed;
  },
);

const broken = row(
  'node closed in the middle of a pulse',
  '`CONNECTION_LOST`',
  `set back before the close ends; ${WORKS}`,
  async () => {
    const cloud = await startCloud();
    await load([cloudApp(cloud), node('gpio', { ...pulse, duration: 60_000 })]);
    post('gpio', { chipid: CHIPID, pin: 5, payload: 1 });
    await until(() => cloud.device(CHIPID).levels[5] === '1', 'the pin is set');
    await deploy([cloudApp(cloud), node('gpio', pulse)]);
    assert.equal(cloud.device(CHIPID).levels[5], '0');
    await call('gpio', { chipid: CHIPID, pin: 5, payload: 1 });
    return firstCode();
  },
);

export const MANY: readonly Row[] = [closed, unknown, broken];
