import assert from 'node:assert/strict';
import { startSimulator, type FaultName, type Simulator } from '../../src/simulator';
import { type FlowNode, app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { ONE, THREE, TWO } from './harness/devices';
import { around, idOf, js } from './harness/flows';
import { startNodeRed, type Message, type NodeRed } from './harness/node-red';
import { request } from './harness/request';

/** The device whose data is nested so deeply that Node-RED could not copy it. */
const DEEP = '10000009';
const brackets = '['.repeat(2500) + ']'.repeat(2500);
const callbacks = { deep: JSON.parse(brackets) as unknown };
const DEVICES = [...[ONE, TWO, THREE].map((chipid) => ({ chipid })), { chipid: DEEP, callbacks }];

const ACTING = ['push', 'request', 'held', 'many', 'pulse'];

/** Nodes that send a command, those that wait for their device among them. */
const acting = (prefix: string): FlowNode[] => {
  const level = { pin: '1', pinType: 'num', level: '1', levelType: 'num' } as const;
  const nodes = [
    node('push'),
    node('request', { match: 'pattern', pattern: '^(a+)+$', replyTimeout: '1' }),
    node('push', { when: 'online', expires: '1' }),
    node('push', { many: true }),
    node('gpio', { operation: 'pulse', duration: '10', ...level }),
  ];
  return nodes.flatMap((each, index) => around(`${prefix}${ACTING[index]}`, each));
};

const flows = (simulator: Simulator): FlowNode[] => [
  app(simulator),
  ...acting(''),
  // Messages to these are not counted: a deploy restarts what would count them.
  ...acting('traffic-'),
  ...around('raises', node('push', { chipid: '$error("no")', chipidType: 'jsonata' })),
  ...around('listen', node('listen', { chipids: [ONE] })),
  ...around('rt-status', node('rt-status', { key: 'deep', keyType: 'str' })),
  ...onTwoWires('deep', 'listen-out'),
  ...around('events', node('events', { refresh: '1', settle: '1', silence: '1' })),
  ...around('latest', node('latest')),
];

/** A listener without recovery that is wired to two nodes: the second gets a copy of the message. */
function onTwoWires(name: string, second: string): FlowNode[] {
  const listener = node('listen', { chipids: [DEEP], recover: 'off' });
  return around(name, listener).map((each) =>
    each.id === idOf(name) ? { ...each, wires: [[`${name}-out`, second]] } : each,
  );
}

/** One of each kind: every fault is in test/src. */
describe('a real Node-RED keeps running', () => {
  let simulator: Simulator;
  let red: NodeRed;
  let pid: number | undefined;
  let good = 0;

  /** The next good call is answered, and the next good upload is emitted. */
  async function works(): Promise<void> {
    const { sent, error } = await red.ask('push', { chipid: ONE, payload: 'good' });
    assert.deepEqual([sent[0]?.payload, error], [{ msg: 'OK' }, undefined]);
    await until(() => simulator.channels(ONE) === 1, 'the channel is open');
    const body = `good ${++good}`;
    simulator.upload(ONE, body);
    await until(
      async () => (await red.results('listen', 'out')).some(({ payload }) => payload === body),
      'it is emitted',
    );
  }

  before(async () => {
    const quick = { interval: 0, answerDelay: 1, offlineAfter: 300, rebootTime: 50 };
    simulator = await startSimulator({ ...quick, devices: DEVICES });
    red = await startNodeRed({ flows: flows(simulator), env: {} });
    pid = red.pid();
    assert.ok(pid);
  });
  after(async () => {
    await red.everyMessageEndedOnce();
    await red.stop();
    await simulator.close();
  });
  afterEach(async () => {
    await works();
    assert.equal(red.pid(), pid, 'the process is the same');
    const log = red.log();
    assert.doesNotMatch(log, /uncaught|unhandled/i);
    assert.equal(log.match(/Welcome to Node-RED/g)?.length, 1, 'it has started once');
  });

  it('after frames and answers that are malformed, and a channel that is refused', async () => {
    await works();
    for (const fault of ['bad-json', 'masked-frame', 'reset-upgrade'] as FaultName[]) {
      simulator.fail(fault, { times: 1, chipid: ONE });
    }
    for (const body of ['spoilt', 'ends the connection']) simulator.upload(ONE, body);
    const lift = simulator.fail('broken-json', { chipid: TWO });
    const calls = ['push', 'request', 'many', 'pulse'].map((name) =>
      red.ask(name, { chipid: TWO, payload: 'x' }),
    );
    for (const { sent, error } of await Promise.all(calls)) {
      assert.deepEqual([sent, error?.error?.code], [[], 'INVALID_RESPONSE']);
    }
    lift();
  });

  it('after uploads and answers that are nested too deeply to be copied', async () => {
    await until(() => simulator.channels(DEEP) === 1, 'the channel is open');
    simulator.upload(DEEP, brackets);
    simulator.upload(DEEP, '[[1]]');
    const ofDeep = (msg: Message): boolean => msg['chipid'] === DEEP;
    for (const name of ['deep', 'listen']) {
      const emitted = await until(async () => {
        const own = (await red.results(name, 'out')).filter(ofDeep);
        return own.length === 2 && own.map(({ payload }) => payload);
      }, `${name} has both`);
      assert.deepEqual(emitted, [brackets, [[1]]], name);
    }
    const { sent } = await red.ask('latest', { chipid: DEEP });
    assert.deepEqual(sent[0]?.payload, [[1]]);
    const answer = await red.ask('rt-status', { chipid: DEEP, payload: 'x' });
    assert.deepEqual([answer.sent, answer.error?.error?.code], [[], 'INVALID_RESPONSE']);
    assert.match(answer.error?.error?.message ?? '', /nested deeper than 100 levels\./);
  });

  it('after expressions that fail, and invalid payloads', async () => {
    const circular = js('(() => { const a = {}; a.a = a; return a; })()');
    const invalid = [['raises', 'x'], ...ACTING.slice(0, 4).map((name) => [name, circular])];
    for (const [name, payload] of invalid) {
      const { error } = await red.ask(String(name), { chipid: ONE, payload });
      assert.equal(error?.error?.code, 'INVALID_INPUT', String(name));
    }
  });

  it('after redeploys with calls in flight, channels opening and uploads arriving', async () => {
    const post = async (name: string, ...messages: object[]): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(messages);
      await request(`${red.url}/in/traffic-${name}`, { method: 'POST', headers, body });
    };
    const uploads = setInterval(() => simulator.upload(ONE, 'x'), 2);
    const lift = simulator.fail('hang', { chipid: THREE });
    const hanging = (): number =>
      simulator.requests.filter(({ body }) => body.includes(THREE)).length;
    try {
      for (let round = 0; round < 4; round++) {
        const before = hanging();
        const messages = [THREE, THREE, TWO].map((chipid) => ({ chipid, payload: 'x' }));
        for (const name of ACTING) await post(name, ...messages);
        await until(() => hanging() > before, 'a push is in flight');
        await red.deploy(flows(simulator), round % 2 ? 'full' : 'flows');
      }
    } finally {
      clearInterval(uploads);
    }
    lift();
  });
});
