import assert from 'node:assert/strict';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSimulator, type Simulator } from '../../src/simulator';
import { app, type FlowNode, node } from '../tooling/node-red/nodes';
import { temporaryFolder } from '../tooling/temporary-folder';
import { until } from '../tooling/until';
import { ONE, THREE, TWO } from './harness/devices';
import { startNodeRed, type NodeRed } from './harness/node-red';

/** How often Node-RED is killed; more by hand. */
const KILLS = Number(process.env['ACK_KILLS']) || 4;
const DEVICES = [ONE, TWO, THREE];

/** A line of what the flow has written, at once, before anything else happens. */
interface Line {
  what: 'emitted' | 'acked' | 'caught';
  chipid: string;
  payload: string;
  redelivered?: boolean;
  code?: string;
}

const PLACE = { z: 'tab', x: 100, y: 100 };

const step = (id: string, func: string, wires: string[]): FlowNode => ({
  ...PLACE,
  ...{ id, type: 'function', name: id, func, outputs: 1, wires: [wires] },
  libs: [
    { var: 'fs', module: 'fs' },
    { var: 'process', module: 'process' },
  ],
});

describe('uploads that a real Node-RED acknowledges', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let journal: string;
  let count = 0;

  const write = (what: Line['what']): string => `
const { chipid, payload, redelivered, error } = msg;
const line = JSON.stringify({ what: '${what}', chipid, payload, redelivered, code: error?.code });
fs.appendFileSync(${JSON.stringify(journal)}, line + '\\n');
`;
  /** It ends the process, as a crash does, if a file says so. */
  const end = (name: string, chance: string): string => `
if (fs.existsSync(${JSON.stringify(journal)} + '.${name}') && ${chance})
  process.kill(process.pid, 'SIGKILL');
`;

  const flows = (settings: object): FlowNode[] => [
    { id: 'tab', type: 'tab', label: 'test' },
    app(simulator),
    {
      ...node('listen', { chipids: DEVICES, acknowledge: 'ack', ...settings }),
      ...{ ...PLACE, id: 'listen', type: 'device-cloud-listen', wires: [['emitted']] },
    },
    step(
      'emitted',
      `${write('emitted')}${end('kills', 'Math.random() < 0.15')}
return msg;`,
      ['ack'],
    ),
    { ...PLACE, id: 'ack', type: 'device-cloud-ack', app: 'app', wires: [['acked']] },
    step('acked', `${write('acked')}${end('kills', 'Math.random() < 0.15')}`, []),
    { ...PLACE, id: 'catch', type: 'catch', scope: ['listen'], wires: [['caught']] },
    step('caught', write('caught'), []),
  ];

  const lines = (): Line[] =>
    existsSync(journal)
      ? readFileSync(journal, 'utf8')
          .split('\n')
          .filter(Boolean)
          .map((line) => JSON.parse(line) as Line)
      : [];
  const of = (what: Line['what']): Line[] => lines().filter((line) => line.what === what);
  const acked = (): number => new Set(of('acked').map(keyOf)).size;
  const keyOf = ({ chipid, payload }: Line): string => `${chipid} ${payload}`;

  async function start(settings: object = {}): Promise<void> {
    journal = join(temporaryFolder(`acknowledged-${++count}`), 'journal');
    simulator = await startSimulator({ interval: 0, answerDelay: 1 });
    red = await startNodeRed({
      flows: flows(settings),
      env: {},
      settings: { functionExternalModules: true },
    });
    const position = join(red.userDir, 'device-cloud', 'app', 'position.json');
    const text = (): string => (existsSync(position) ? readFileSync(position, 'utf8') : '');
    await until(() => DEVICES.every((chipid) => text().includes(`:${chipid}"`)), 'all positions');
  }
  async function again(): Promise<void> {
    red = await startNodeRed({
      userDir: red.userDir,
      env: {},
      settings: { functionExternalModules: true },
    });
  }
  /** Two at once would emit each upload twice. */
  const isDead = (): Promise<void> => until(() => red.pid() === undefined, 'the process is gone');

  afterEach(async () => {
    await red.stop();
    await simulator.close();
  });

  /** All were emitted in order; what was emitted again, is marked; nothing was skipped. */
  function check(sent: ReadonlyMap<string, readonly string[]>): void {
    const all = of('emitted');
    for (const [chipid, bodies] of sent) {
      const own = all.filter((line) => line.chipid === chipid).map(({ payload }) => payload);
      assert.deepEqual([...new Set(own)], bodies, `each of ${chipid}, in order`);
    }
    const seen = new Set<string>();
    for (const line of all) {
      if (seen.has(keyOf(line))) assert.ok(line.redelivered, `${keyOf(line)} is marked`);
      seen.add(keyOf(line));
    }
  }

  it(`come again or are acknowledged, and none is skipped, over ${KILLS} kills`, async function () {
    this.timeout(300_000 + KILLS * 30_000);
    await start({ attempts: 1000 });
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
      await isDead();
      // Some are missed.
      upload();
      clearInterval(uploads);
      rmSync(`${journal}.kills`);
      await again();
    }
    await until(() => acked() === number, 'all are acknowledged');
    check(sent);
    assert.deepEqual(of('caught'), []);
  });
});
