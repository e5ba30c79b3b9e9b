import assert from 'node:assert/strict';
import type { FaultName, Simulator } from '../../src/simulator';
import { type FlowNode, app, node } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { ONE, THREE, TWO } from './harness/devices';
import { around, idOf, js } from './harness/flows';
import type { Message } from './harness/node-red';
import { useWorld } from './harness/world';

/** The device whose data is nested so deeply that Node-RED could not copy it. */
const DEEP = '10000009';
const brackets = '['.repeat(2500) + ']'.repeat(2500);
const callbacks = { deep: JSON.parse(brackets) as unknown };
const DEVICES = [...[ONE, TWO, THREE].map((chipid) => ({ chipid })), { chipid: DEEP, callbacks }];

/** Nodes that send a command, those that wait for their device among them. */
const ACTING: Record<string, ReturnType<typeof node>> = {
  push: node('push'),
  request: node('request', { match: 'pattern', pattern: '^(a+)+$', replyTimeout: '1' }),
  held: node('push', { when: 'online', expires: '1' }),
  many: node('push', { many: true }),
  pulse: node('gpio', {
    ...{ operation: 'pulse', duration: '10' },
    ...{ pin: '1', pinType: 'num', level: '1', levelType: 'num' },
  }),
};

/** Those that push the payload. */
const TAKE_PAYLOAD = ['push', 'request', 'held', 'many'];

const flows = (simulator: Simulator): FlowNode[] => [
  app(simulator),
  ...Object.entries(ACTING).flatMap(([name, each]) => around(name, each)),
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
  const here = useWorld(flows, { offlineAfter: 300, rebootTime: 50, devices: DEVICES });
  let pid: number | undefined;
  let good = 0;

  /** The next good call is answered, and the next good upload is emitted. */
  async function works(): Promise<void> {
    const { sent, error } = await here.red.ask('push', { chipid: ONE, payload: 'good' });
    assert.deepEqual([sent[0]?.payload, error], [{ msg: 'OK' }, undefined]);
    await until(() => here.simulator.channels(ONE) === 1, 'the channel is open');
    const body = `good ${++good}`;
    here.simulator.upload(ONE, body);
    await until(
      async () => (await here.red.results('listen', 'out')).some(({ payload }) => payload === body),
      'it is emitted',
    );
  }

  before(() => {
    pid = here.red.pid();
    assert.ok(pid);
  });
  afterEach(async () => {
    await works();
    await here.red.everyMessageEndedOnce();
    assert.equal(here.red.pid(), pid, 'the process is the same');
    const log = here.red.log();
    assert.doesNotMatch(log, /uncaught|unhandled/i);
    assert.equal(log.match(/Welcome to Node-RED/g)?.length, 1, 'it has started once');
  });

  it('after frames and answers that are malformed, and a channel that is refused', async () => {
    await works();
    for (const fault of ['bad-json', 'masked-frame', 'reset-upgrade'] as FaultName[]) {
      here.simulator.fail(fault, { times: 1, chipid: ONE });
    }
    for (const body of ['spoilt', 'ends the connection']) here.simulator.upload(ONE, body);
    const lift = here.simulator.fail('broken-json', { chipid: TWO });
    const calls = ['push', 'request', 'many', 'pulse'].map((name) =>
      here.red.ask(name, { chipid: TWO, payload: 'x' }),
    );
    for (const { sent, error } of await Promise.all(calls)) {
      assert.deepEqual([sent, error?.error?.code], [[], 'INVALID_RESPONSE']);
    }
    lift();
  });

  it('after uploads and answers that are nested too deeply to be copied', async () => {
    await until(() => here.simulator.channels(DEEP) === 1, 'the channel is open');
    here.simulator.upload(DEEP, brackets);
    here.simulator.upload(DEEP, '[[1]]');
    const ofDeep = (msg: Message): boolean => msg['chipid'] === DEEP;
    for (const name of ['deep', 'listen']) {
      const emitted = await until(async () => {
        const own = (await here.red.results(name, 'out')).filter(ofDeep);
        return own.length === 2 && own.map(({ payload }) => payload);
      }, `${name} has both`);
      assert.deepEqual(emitted, [brackets, [[1]]], name);
    }
    const { sent } = await here.red.ask('latest', { chipid: DEEP });
    assert.deepEqual(sent[0]?.payload, [[1]]);
    const answer = await here.red.ask('rt-status', { chipid: DEEP, payload: 'x' });
    assert.deepEqual([answer.sent, answer.error?.error?.code], [[], 'INVALID_RESPONSE']);
    assert.match(answer.error?.error?.message ?? '', /nested deeper than 100 levels\./);
  });

  it('after expressions that fail, and invalid payloads', async () => {
    const circular = js('(() => { const a = {}; a.a = a; return a; })()');
    const invalid = [['raises', 'x'], ...TAKE_PAYLOAD.map((name) => [name, circular])];
    for (const [name, payload] of invalid) {
      const { error } = await here.red.ask(String(name), { chipid: ONE, payload });
      assert.equal(error?.error?.code, 'INVALID_INPUT', String(name));
    }
  });
});
