import assert from 'node:assert/strict';
import { cloudApp, load, node } from '../support/flow';
import { call, shows } from '../support/messages';
import { startCloud } from '../support/node-red';
import { ARRIVES, CHIPID, codeOf, emitted, NOTHING, rowsOf, said, WORKS, type Row } from './row';

const MINUTE = 60_000;
/** Seconds that the strict service lets a timestamp be off. */
const WINDOW = 300;

const row = rowsOf('clock');

const push = { chipid: CHIPID, payload: 'x' };

/** The service's clock is off, and it minds. */
const strict = (fault: string, offset: number): Row =>
  row(
    `${fault}, a service that minds`,
    '`UNAUTHORIZED`',
    'works once the clocks agree',
    async () => {
      let off = offset;
      const cloud = await startCloud({ timestampWindow: WINDOW, now: () => Date.now() + off });
      await load([cloudApp(cloud), node('push')]);
      const failed = await codeOf('push', { ...push });
      off = 0;
      await call('push', { ...push });
      return failed;
    },
  );

/** The service's clock is off, and it does not mind. */
const lax = (fault: string, offset: number): Row =>
  row(`${fault}, a service that does not mind`, NOTHING, `${WORKS}, ${ARRIVES}`, async () => {
    const cloud = await startCloud({ now: () => Date.now() + offset });
    await load([cloudApp(cloud), node('push'), node('listen', { chipids: [CHIPID] })]);
    await call('push', { ...push });
    await shows('listen', 'status.connected');
    cloud.upload(CHIPID, 'good');
    await emitted('good');
    return said();
  });

const stepping = row(
  'stepping while connected',
  NOTHING,
  `the channel stays open, ${WORKS}, ${ARRIVES}`,
  async () => {
    let off = 0;
    const cloud = await startCloud({ now: () => Date.now() + off });
    const listen = node('listen', { chipids: [CHIPID], recover: 'reconnect' });
    await load([cloudApp(cloud), node('push'), listen]);
    await shows('listen', 'status.connected');
    for (const step of [10, -10, 180, -180, 0]) {
      off = step * MINUTE;
      cloud.upload(CHIPID, `at ${step}`);
      await emitted(`at ${step}`);
      await call('push', { ...push });
    }
    const upgrades = cloud.requests.filter(({ path }) => path === '/noticed/peer');
    assert.equal(upgrades.length, 1);
    return said();
  },
);

const OFFSETS: [fault: string, minutes: number][] = [
  ['+10 min', 10],
  ['−10 min', -10],
  ['+3 h', 180],
  ['−3 h', -180],
];

export const CLOCK: readonly Row[] = [
  ...OFFSETS.map(([fault, minutes]) => strict(fault, minutes * MINUTE)),
  ...OFFSETS.map(([fault, minutes]) => lax(fault, minutes * MINUTE)),
  stepping,
];
