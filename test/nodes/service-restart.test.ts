import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { SERVER_ZONE, serverTime } from '../../src/simulator/encoding';
import { arrivedAt, said, shows } from './support/messages';
import { startCloud, useNodeRed } from './support/node-red';
import { freePort } from '../tooling/servers/ports';
import { comesToHold, until } from '../tooling/until';
import { KNOWN, PATIENCE, openWithRecovery, uploadKnown } from './support/listening';

/** More than the 50 attempts of the first second; the benchmark has 5,000. */
const MANY = 300;

/** All that was emitted, in order, by the device that uploaded it. */
function emittedBy(): Map<string, unknown[]> {
  const all = new Map<string, unknown[]>();
  for (const { topic = '', payload } of arrivedAt('out')) {
    const own = all.get(topic);
    if (own) own.push(payload);
    else all.set(topic, [payload]);
  }
  return all;
}

/** Why a channel may be down: a busy machine takes too long to open all of them. */
const DOWN = ['1006', 'ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT'].map(
  (reason) => `the channel is down (${reason}).`,
);

/**
 * Starts the service again with the uploads that it had, under the same ids and with the same times: a
 * record with another time is another upload, whatever its id and its body.
 */
async function startAgain(before: Simulator): Promise<Simulator> {
  const service = await startCloud({ devices: MANY, port: before.port });
  const created = new Map<unknown, string>();
  for (const { uploads } of before.devices.values()) {
    for (const { id, at } of uploads) created.set(id, serverTime(at, SERVER_ZONE));
  }
  service.rewriteHistory((records) =>
    records.map((record) => {
      const time = 'id' in record && created.get(record.id);
      return time ? { ...record, create_time: time } : record;
    }),
  );
  for (const chipid of before.devices.keys()) service.upload(chipid, KNOWN);
  return service;
}

describe('a service that starts again', function () {
  // A step with all devices has its own time limit.
  this.timeout(400_000);

  useNodeRed();

  it(`has ${MANY} channels again, and what they missed comes from the history: once, in order`, async () => {
    // Not one that the system gives away meanwhile, as a connection's own port.
    const first = await startCloud({ devices: MANY, port: await freePort() });
    const chipids = [...first.devices.keys()];
    await openWithRecovery(first, chipids);
    // One has its first upload from the history, as any may whose connection broke.
    first.disconnect(chipids[0], 1006);
    await uploadKnown(first, chipids);
    await first.close();
    await until(
      () => said().some((line) => line.includes('ECONNREFUSED')),
      'an attempt was refused',
    );
    const second = await startAgain(first);
    for (const chipid of chipids) second.upload(chipid, 'missed');
    await until(() => second.channels() === MANY, 'all are open again', PATIENCE);
    await shows('listen', `${MANY}/${MANY}`);
    for (const chipid of chipids) second.upload(chipid, 'good');
    const whole = JSON.stringify(['known', 'missed', 'good']);
    const others = (): string[] => {
      const all = emittedBy();
      return chipids.filter((chipid) => JSON.stringify(all.get(chipid)) !== whole);
    };
    const isAll = (): boolean => arrivedAt('out').length >= 3 * MANY;
    // What is missing is named below.
    await comesToHold(isAll, PATIENCE);
    const wrong = others();
    const [chipid = ''] = wrong;
    const texts = JSON.stringify(emittedBy().get(chipid));
    assert.equal(wrong.length, 0, `of ${MANY}; such as ${chipid} ${texts}`);
    assert.deepEqual(
      said().filter((line) => !DOWN.includes(line)),
      [],
    );
  });
});
