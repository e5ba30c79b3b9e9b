import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { app, type FlowNode, placed, TAB } from '../tooling/node-red/nodes';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';
import { ONE, THREE, TWO } from './harness/devices';
import { useWorld } from './harness/world';

/** How often Node-RED is killed; more by hand. */
const KILLS = Number(process.env['ACK_KILLS']) || 4;
const DEVICES = [ONE, TWO, THREE];

/** A line of what the flow has written, at once, before anything else happens. */
interface Line {
  what: 'emitted' | 'acked' | 'caught';
  chipid: string;
  payload: string;
  redelivered?: boolean;
}

const journal = join(temporaryFolder('acknowledged'), 'journal');
const read = (path: string): string => (existsSync(path) ? readFileSync(path, 'utf8') : '');
const linesOf = (what: Line['what']): Line[] => {
  const lines = read(journal).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Line).filter((line) => line.what === what);
};
const keyOf = ({ chipid, payload }: Line): string => `${chipid} ${payload}`;

const PLACE = { z: 'tab', x: 100, y: 100 };
/** Writes a line, and ends the process now and then, as a crash does, while a file says so. */
const step = (what: Line['what'], wires: string[], chance = 0.15): FlowNode => ({
  ...PLACE,
  id: what,
  type: 'function',
  outputs: 1,
  wires: [wires],
  libs: ['fs', 'process'].map((name) => ({ var: name, module: name })),
  func: `
const { chipid, payload, redelivered } = msg;
const line = JSON.stringify({ what: '${what}', chipid, payload, redelivered });
fs.appendFileSync(${JSON.stringify(journal)}, line + '\\n');
if (fs.existsSync(${JSON.stringify(journal)} + '.kills') && Math.random() < ${chance})
  process.kill(process.pid, 'SIGKILL');
return msg;`,
});

describe('uploads that a real Node-RED acknowledges', () => {
  const here = useWorld(
    (simulator) => [
      ...[TAB, app(simulator)],
      placed(
        'listen',
        { chipids: DEVICES, acknowledge: 'ack', attempts: 1000 },
        { wires: [['emitted']] },
      ),
      step('emitted', ['ack']),
      placed('ack', {}, { wires: [['acked']] }),
      step('acked', []),
      { ...PLACE, id: 'catch', type: 'catch', scope: ['listen'], wires: [['caught']] },
      step('caught', [], 0),
    ],
    {},
    { functionExternalModules: true },
  );

  it(`come again or are acknowledged, and none is skipped, over ${KILLS} kills`, async function () {
    this.timeout(300_000 + KILLS * 30_000);
    const { simulator } = here;
    const position = join(here.red.userDir, 'device-cloud', 'app', 'position.json');
    const hasPosition = (chipid: string): boolean => read(position).includes(`:${chipid}"`);
    await until(() => DEVICES.every(hasPosition), 'all positions are written');
    const sent = new Map<string, string[]>(DEVICES.map((chipid) => [chipid, []]));
    let number = 0;
    const upload = (): void => {
      const chipid = DEVICES[number % DEVICES.length]!;
      const body = `v=${number++}`;
      sent.get(chipid)!.push(body);
      simulator.upload(chipid, body);
    };
    for (let kill = 0; kill < KILLS; kill++) {
      writeFileSync(`${journal}.kills`, '');
      const uploads = setInterval(upload, 20);
      await until(() => here.red.pid() === undefined, 'the process is gone');
      // Some are missed.
      upload();
      clearInterval(uploads);
      rmSync(`${journal}.kills`);
      await here.again();
    }
    const acked = (): number => new Set(linesOf('acked').map(keyOf)).size;
    await until(() => acked() === number, 'all are acknowledged');

    // All were emitted in order; what was emitted again, is marked; nothing was skipped.
    const emitted = linesOf('emitted');
    for (const [chipid, bodies] of sent) {
      const own = emitted.filter((line) => line.chipid === chipid).map(({ payload }) => payload);
      assert.deepEqual([...new Set(own)], bodies, `each of ${chipid}, in order`);
    }
    const seen = new Set<string>();
    for (const line of emitted) {
      if (seen.has(keyOf(line))) assert.ok(line.redelivered, `${keyOf(line)} is marked`);
      seen.add(keyOf(line));
    }
    assert.deepEqual(linesOf('caught'), []);
  });
});
