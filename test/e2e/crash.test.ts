import assert from 'node:assert/strict';
import type { CloseOptions, FaultName } from '../../src/simulator';
import type { Message } from './harness/drive';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { until } from '../tooling/until';
import { around, idOf, js } from './harness/flows';
import { type FlowNode, app, node } from '../tooling/node-red/nodes';
import { request } from './harness/request';

/** Of each kind: events that cost nothing but themselves, and those that end the connection. */
const FRAMES: FaultName[] = ['bad-json', 'binary', 'masked-frame', 'big-frame'];
const ENDS: CloseOptions[] = [{ terminate: true }, { code: 1000 }, { code: 1011 }, { code: 4999 }];
const ANSWERS: FaultName[] = ['broken-json', 'null', 'redirect', 'truncated', 'reset'];

/** A device for each fault of a channel, since one that ends again and again is opened ever later. */
const FIRST = 10_000_010;
const chipidOf = (index: number): string => String(FIRST + index);
const OWN = [...FRAMES, ...ENDS].map((_, index) => chipidOf(index));
/** The device whose data is nested so deeply that Node-RED could not copy it. */
const DEEP = '10000009';
const brackets = '['.repeat(2500) + ']'.repeat(2500);
const callbacks = { deep: JSON.parse(brackets) as unknown };
const PLAIN = [ONE, TWO, THREE, ...OWN].map((chipid) => ({ chipid }));
const DEVICES = [...PLAIN, { chipid: DEEP, callbacks }];

const KINDS = ['presence', 'channel', 'recovery'] as const;

type Service = Parameters<typeof app>[0];

/** Nodes whose calls take more than one step, or wait for their device. */
const acting = (prefix: string): FlowNode[] => [
  ...around(
    `${prefix}request`,
    node('request', { match: 'pattern', pattern: '^(a+)+$', replyTimeout: '1' }),
  ),
  ...around(`${prefix}held`, node('push', { when: 'online', expires: '1' })),
  ...around(`${prefix}many`, node('push', { many: true })),
  ...around(
    `${prefix}pulse`,
    node('gpio', {
      operation: 'pulse',
      duration: '10',
      pin: '1',
      pinType: 'num',
      level: '1',
      levelType: 'num',
    }),
  ),
];

const flows = (simulator: Service): FlowNode[] => [
  app(simulator),
  ...around('push', node('push')),
  ...around('traffic', node('push')),
  ...around('traffic-channel', node('push', { transport: 'channel' })),
  ...around('gpio', node('gpio', { operation: 'read', pin: '' })),
  ...around('list', node('devices')),
  ...around('history', node('history')),
  ...around('raises', node('push', { chipid: '$error("no")', chipidType: 'jsonata' })),
  ...around('no-number', node('push', { message: '$number("x")', messageType: 'jsonata' })),
  ...around('listen', node('listen', { chipids: [ONE, ...OWN] })),
  ...around('rt-status', node('rt-status', { key: 'deep', keyType: 'str' })),
  ...onTwoWires('deep', 'listen-out'),
  ...around(
    'events',
    node('events', { events: [...KINDS], refresh: '1', settle: '1', silence: '1' }),
  ),
  ...around('latest', node('latest')),
  ...acting(''),
  ...acting('traffic-'),
];

/** A listener without recovery that is wired to two nodes: the second gets a copy of the message. */
function onTwoWires(name: string, second: string): FlowNode[] {
  const listener = node('listen', { chipids: [DEEP], recover: 'off' });
  return around(name, listener).map((each) =>
    each.id === idOf(name) ? { ...each, wires: [[`${name}-out`, second]] } : each,
  );
}

describe('a real Node-RED keeps running', () => {
  const here = fixture(flows, { simulator: { devices: DEVICES }, env: {} });
  let pid: number | undefined;
  let good = 0;

  /** The next good call is answered, and the next good upload of the device is emitted. */
  async function works(chipid = ONE): Promise<void> {
    const { sent, error } = await here.red.ask('push', { chipid, payload: 'good' });
    assert.deepEqual([sent[0]?.payload, error], [{ msg: 'OK' }, undefined]);
    await until(() => here.simulator.channels(chipid) === 1, 'the channel is open');
    const body = `good ${++good}`;
    here.simulator.upload(chipid, body);
    let emitted = await here.red.results('listen', 'out');
    while (!emitted.some(({ payload }) => payload === body)) {
      emitted = await here.red.waitFor('listen', 'out', emitted.length + 1);
    }
  }

  before(() => {
    pid = here.red.pid();
    assert.ok(pid);
  });
  afterEach(() => {
    assert.equal(here.red.pid(), pid, 'the process is the same');
    const log = here.red.log();
    assert.doesNotMatch(log, /uncaught|unhandled/i);
    assert.equal(log.match(/Welcome to Node-RED/g)?.length, 1, 'it has started once');
  });

  FRAMES.forEach((fault, index) => {
    it(`after an event that is ${fault}`, async () => {
      const chipid = chipidOf(index);
      await works(chipid);
      here.simulator.fail(fault, { times: 1, chipid });
      here.simulator.upload(chipid, 'spoilt');
      await works(chipid);
    });
  });

  it('after channels that were cut off, closed with any code, and refused when they came back', async () => {
    for (const [index, end] of ENDS.entries()) {
      const chipid = chipidOf(FRAMES.length + index);
      await until(() => here.simulator.channels(chipid) === 1, 'the channel is open');
      here.simulator.fail(index % 2 ? 'answer-upgrade' : 'reset-upgrade', { times: 1, chipid });
      here.simulator.disconnect(chipid, end);
    }
    for (const index of ENDS.keys()) await works(chipidOf(FRAMES.length + index));
  });

  it('after malformed answers to any node', async () => {
    for (const fault of ANSWERS) {
      const lift = here.simulator.fail(fault);
      const names = ['push', 'gpio', 'list', 'history', 'request', 'held', 'many', 'pulse'];
      const calls = names.map((name) => here.red.ask(name, { chipid: TWO, payload: 'x' }));
      for (const { sent, error } of await Promise.all(calls)) {
        assert.deepEqual(sent, []);
        assert.ok(error?.error?.code, fault);
      }
      lift();
    }
    await works();
  });

  it('after uploads and answers that are nested too deeply to be copied', async () => {
    await until(() => here.simulator.channels(DEEP) === 1, 'the channel is open');
    here.simulator.upload(DEEP, brackets);
    here.simulator.upload(DEEP, '[[1]]');
    const ofDeep = (msg: Message): boolean => msg['chipid'] === DEEP;
    for (const name of ['deep', 'listen']) {
      let emitted = await here.red.results(name, 'out');
      while (emitted.filter(ofDeep).length < 2) {
        emitted = await here.red.waitFor(name, 'out', emitted.length + 1);
      }
      const payloads = emitted.filter(ofDeep).map(({ payload }) => payload);
      assert.deepEqual(payloads, [brackets, [[1]]], name);
    }
    const { sent } = await here.red.ask('latest', { chipid: DEEP });
    assert.deepEqual(sent[0]?.payload, [[1]]);
    for (let count = 1; count <= 3; count++) {
      const { sent, error } = await here.red.ask('rt-status', { chipid: DEEP, payload: count });
      assert.deepEqual([sent, error?.error?.code, error?.payload], [[], 'INVALID_RESPONSE', count]);
      assert.match(
        error?.error?.message ?? '',
        /nested deeper than 100 levels\..* device 10000009 /,
      );
    }
    await works();
  });

  it('after expressions that fail, and invalid payloads', async () => {
    for (const name of ['raises', 'no-number']) {
      const { error } = await here.red.ask(name, { chipid: ONE, payload: 'x' });
      assert.equal(error?.error?.code, 'INVALID_INPUT');
    }
    const odd = ['10n', '() => 1', 'Symbol("x")', '(() => { const a = {}; a.a = a; return a; })()'];
    for (const expression of odd) {
      for (const name of ['push', 'request', 'held', 'many']) {
        const { error } = await here.red.ask(name, { chipid: ONE, payload: js(expression) });
        assert.equal(error?.error?.code, 'INVALID_INPUT', expression);
      }
    }
    await works();
  });

  it('after redeploys with calls in flight, channels opening and uploads arriving', async () => {
    // Catch and Complete nodes are restarted as well and miss ends: these messages are not counted.
    const post = async (name: string, ...messages: object[]): Promise<void> => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify(messages);
      await request(`${here.red.url}/in/${name}`, { method: 'POST', headers, body });
    };
    const uploads = setInterval(() => here.simulator.upload(ONE, 'x'), 2);
    const lift = here.simulator.fail('hang', { chipid: THREE });
    const hanging = (): number =>
      here.simulator.requests.filter(({ body }) => body.includes(THREE)).length;
    try {
      for (let round = 0; round < 6; round++) {
        const before = hanging();
        const messages = ['hangs', 'waits'].map((payload) => ({ chipid: THREE, payload }));
        await post('traffic', ...messages, { chipid: ONE, payload: 'is answered' });
        for (const name of ['request', 'held', 'many', 'pulse'])
          await post(
            `traffic-${name}`,
            { chipid: TWO, payload: 'x' },
            { chipid: THREE, payload: 'x' },
          );
        await post('traffic-channel', { chipid: TWO, payload: 'x' });
        await until(() => hanging() > before, 'a push is in flight');
        await here.red.deploy(flows(here.simulator), round % 2 ? 'full' : 'flows');
      }
    } finally {
      clearInterval(uploads);
    }
    lift();
    await works();
  });
});
