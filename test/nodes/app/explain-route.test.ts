import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { NodeMessage } from 'node-red';
import type { NodeExplanation } from '../../../nodes/app/explain';
import type { Simulator } from '../../../src/simulator';
import type { FlowNode } from '../../../tooling/node-red/nodes';
import { cloudApp, load, node, simulatorApp } from '../support/flow';
import { journal } from '../support/journal';
import { call, fail } from '../support/messages';
import { startCloud, useNodeRed } from '../support/node-red';

const DEVICE = '10000001';

async function ask(body: object): Promise<{ status: number; body: unknown; text: string }> {
  const answer = await helper.request().post('/device-cloud/apps/explain').send(body);
  journal.answers.push(answer.text);
  return answer;
}

async function explain(node: object, msg?: object): Promise<NodeExplanation> {
  const { status, body, text } = await ask({ id: 'app', node, ...(msg ? { msg } : {}) });
  assert.equal(status, 200, text);
  return body as NodeExplanation;
}

interface Problem {
  code: string;
  message: string;
}

async function refusal(body: object): Promise<Problem> {
  const answer = await ask(body);
  assert.equal(answer.status, 400, answer.text);
  return (answer.body as { error: Problem }).error;
}

const codes = ({ warnings }: NodeExplanation): string[] => warnings.map(({ code }) => code);

describe('the explanation of a node in the editor', () => {
  useNodeRed();
  let cloud: Simulator;

  async function start(...nodes: FlowNode[]): Promise<void> {
    cloud = await startCloud();
    await load([cloudApp(cloud), ...nodes]);
  }

  const CALLS: readonly [kind: string, properties: object, msg: object][] = [
    ['push', {}, { chipid: DEVICE, payload: { a: "it's" } }],
    ['push', { format: 'msg', message: '00 ff', messageType: 'str' }, { chipid: 10000001, format: 'HEX' }], // prettier-ignore
    ['push', { target: 'app', format: 'LUA' }, { payload: 'x' }],
    ['gpio', {}, { chipid: DEVICE, pin: 4, payload: 'high' }],
    ['gpio', { operation: 'read', pin: '' }, { chipid: DEVICE }],
    ['reboot', { chipid: '007', chipidType: 'str' }, {}],
    ['reboot', { chipid: 'device.id' }, { device: { id: DEVICE } }],
    ['refresh', {}, { chipid: DEVICE }],
    ['rt-status', { key: 'temperature', keyType: 'str' }, { chipid: DEVICE }],
    ['devices', {}, {}],
    ['devices', { operation: 'app' }, {}],
    ['history', {}, { chipid: DEVICE }],
    ['latest', { missing: 'history' }, { chipid: DEVICE }],
    ['history', { operation: 'pushes' }, { chipid: DEVICE }],
    ['history', { operation: 'sync' }, { begin: '20260101', end: '2026-01-02' }],
    ['server', { page: '2', pageType: 'num' }, {}],
    ['server', { operation: 'device' }, { deviceid: DEVICE }],
    ['server', { operation: 'update' }, { deviceid: DEVICE, payload: { name: 'x' } }],
    ['server', { operation: 'passthrough' }, { deviceid: DEVICE, payload: { data: 'x' } }],
    ['server', { operation: 'uploads', query: '{"page":1,"count":2}', queryType: 'json' }, {}],
  ];
  for (const [kind, properties, msg] of CALLS) {
    it(`shows the request that the node sends: ${kind} ${JSON.stringify(properties)}`, async () => {
      const tested = node(kind, properties);
      await start(tested);
      const { method, path, parameters, curl } = await explain(tested, msg);
      assert.equal(cloud.requests.length, 0);
      // The history of `latest` must not be empty.
      cloud.upload(DEVICE, 'x');
      assert.match(curl, /\bcurl -sSi /);
      // Device 7 is unknown: what counts is the request.
      if ('chipid' in properties && properties.chipid === '007')
        await fail(kind, { ...msg } as NodeMessage, 'NOT_FOUND');
      else await call(kind, { ...msg } as NodeMessage);
      // The end day of a synchronisation is requested once more.
      const sent = cloud.requests.at(path.includes('/sync/') ? 0 : -1)!;
      assert.equal(method, sent.method);
      if (kind === 'server') {
        assert.equal(path, sent.query === '' ? sent.path : `${sent.path}?${sent.query}`);
        return;
      }
      assert.equal(path, sent.path);
      const received = new URLSearchParams(`${sent.query}&${sent.body}`);
      received.delete('sign');
      received.set('timestamp', '');
      const explained = parameters.map(([name, value]) => [
        name,
        name === 'timestamp' ? '' : value,
      ]);
      received.sort();
      assert.deepEqual(explained.reverse(), [...received]);
    });
  }

  it('shows the channel for a push over it, both levels of a pulse, and the first of many devices', async () => {
    await start(node('push'));
    const overChannel = node('push', { transport: 'channel' });
    const channel = await explain(overChannel, { chipid: DEVICE, payload: 'x' });
    assert.equal(channel.path, '/noticed/peer');
    assert.deepEqual(codes(channel), ['channel']);
    const pulsing = node('gpio', { operation: 'pulse', duration: '250' });
    const pulse = await explain(pulsing, { chipid: DEVICE, pin: 3, payload: 1 });
    assert.equal(pulse.path, `/openapi/set_gpio_edge/${DEVICE}/3/1/`);
    const path = `/openapi/set_gpio_edge/${DEVICE}/3/0/`;
    assert.deepEqual(
      pulse.warnings.map((one) => 'values' in one && one.values),
      [{ duration: 250, path }],
    );
    const many = await explain(node('reboot', { many: true }), { chipid: [2, '3', '03'] });
    assert.equal(many.path, '/openapi/reboot/dev/2/');
    assert.deepEqual(
      many.warnings.map((one) => 'values' in one && one.values),
      [{ count: 2 }],
    );
  });

  it('reads contexts, variables and expressions of the deployed node', async () => {
    const tested = node('push');
    await start(tested);
    const deployed = helper.getNode('push')!;
    deployed.context().flow.set('device', 7);
    deployed.context().global.set('text', 'hello');
    process.env['DEVICE_CLOUD_TEST_TEXT'] = 'from a variable';
    const flow = { chipid: 'device', chipidType: 'flow' };
    const typed = async (properties: object): Promise<string | undefined> => {
      const { parameters } = await explain({ ...tested, ...flow, ...properties }, { a: [1, 2] });
      return new Map(parameters).get('message');
    };
    assert.equal(await typed({ message: 'text', messageType: 'global' }), 'hello');
    assert.equal(await typed({ message: '$sum(a)', messageType: 'jsonata' }), '3');
    const name = 'DEVICE_CLOUD_TEST_TEXT';
    assert.equal(await typed({ message: name, messageType: 'env' }), 'from a variable');
    assert.equal(await typed({ message: `\${${name}}`, messageType: 'str' }), 'from a variable');
    Reflect.deleteProperty(process.env, name);
    // A new node has no flow yet.
    const drawn = await explain({ ...tested, ...flow, id: 'new' }, { payload: 'x' });
    assert.deepEqual(codes(drawn), ['placeholder']);
    assert.equal(new Map(drawn.parameters).get('devid'), '0');
  });

  it('works with the built-in simulator, started or not', async () => {
    await load([simulatorApp()]);
    const { warnings, curl } = await explain(node('devices'));
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['spelling', 'simulator'],
    );
    assert.match(curl, /'http:\/\/127\.0\.0\.1:\d+\/openapi\/devices\/list\//);
  });

  it('fails as the node does', async () => {
    const tested = node('push');
    await start(tested, node('server', { operation: 'uploads' }));
    const bad = { chipid: '../x', payload: 'x' };
    const caught = await fail('push', { ...bad } as NodeMessage, 'INVALID_INPUT');
    const { code, message } = await refusal({ id: 'app', node: tested, msg: bad });
    assert.equal(`${code} ${message}`, `INVALID_INPUT ${caught.error.message}`);
    const uploads = { id: 'app', node: node('server', { operation: 'uploads' }) };
    assert.match((await refusal(uploads)).message, /query is empty/);
    const wrong = { ...tested, chipid: '$sum(', chipidType: 'jsonata' };
    assert.equal((await refusal({ id: 'app', node: wrong })).code, 'NOT_CONFIGURED');
    assert.equal((await refusal({ id: 'gone', node: tested })).code, 'NOT_CONFIGURED');
  });

  it("begins with the failure of the last call: its code, the service's words, the clocks", async () => {
    const tested = node('push');
    await start(tested);
    assert.equal((await explain(tested, { chipid: DEVICE, payload: 'x' })).failure, undefined);
    await fail('push', { chipid: 99, payload: 'x' } as NodeMessage, 'NOT_FOUND');
    const { failure } = await explain(tested, { chipid: DEVICE, payload: 'x' });
    assert.ok(failure);
    const { code, said, statusCode, age, clockSkew, message } = failure;
    assert.deepEqual([code, statusCode], ['NOT_FOUND', 404]);
    // The header has whole seconds.
    assert.ok(Math.abs(clockSkew ?? NaN) <= 2, String(clockSkew));
    assert.equal(said, 'there is no device 99');
    assert.ok(age >= 0 && age < 60_000);
    assert.match(message, /there is no device 99/);
    // A node of the same id that is not deployed yet is another one.
    const other = { ...tested, id: 'new' };
    assert.equal((await explain(other, { chipid: DEVICE, payload: 'x' })).failure, undefined);
    await call('push', { chipid: DEVICE, payload: 'x' } as NodeMessage);
    assert.equal((await explain(tested, { chipid: DEVICE, payload: 'x' })).failure, undefined);
  });

  it('has a command for PowerShell, which makes its own time stamp and sign', async () => {
    const tested = node('push');
    await start(tested);
    const payload = "it's ‘quoted’ $x `y`";
    const { powershell } = await explain(tested, { chipid: DEVICE, payload });
    assert.match(
      powershell,
      /^& \{\n {2}if \(-not \$env:APPKEY\) \{ throw .*\n {2}\$timestamp = .*UtcNow/,
    );
    assert.ok(powershell.includes("&message=it''s ‘‘quoted’’ $x `y`&format=msg&"));
    assert.ok(powershell.includes("$text = 'posttimestamp=' + $timestamp + "));
    assert.ok(powershell.includes("'&sign=' + $sign"));
    assert.ok(!/[0-9a-f]{32}/.test(powershell) && !powershell.includes(cloud.appkey));
  });

  const MALFORMED: readonly [what: string, body: object][] = [
    ['no id', { node: node('push') }],
    ['no node', { id: 'app' }],
    ['a node of another package', { id: 'app', node: { type: 'http request' } }],
    ['a node that sends nothing', { id: 'app', node: { type: 'device-cloud-listen' } }],
    ['a node that reads no history', { id: 'app', node: node('latest'), msg: { chipid: DEVICE } }],
    ['all devices, whose history is not read', { id: 'app', node: node('latest', { chipid: '', missing: 'history' }) }], // prettier-ignore
    ['a type that every object has', { id: 'app', node: { type: '__proto__' } }],
    ['a property that is too long', { id: 'app', node: node('push', { message: 'x'.repeat(65_537) }) }], // prettier-ignore
    ['too many properties', { id: 'app', node: { ...node('push'), ...Array(100).fill(0) } }],
    ['a message that is no object', { id: 'app', node: node('push'), msg: [1] }],
    [
      'a message that is too long',
      { id: 'app', node: node('push'), msg: { a: 'x'.repeat(65_536) } },
    ],
  ];
  for (const [what, body] of MALFORMED) {
    it(`refuses ${what}`, async () => {
      await start();
      assert.equal((await refusal(body)).code, 'INVALID_INPUT');
    });
  }

  it('is recorded in the audit log, without the message', async () => {
    await start(node('push'));
    await explain(node('push'), { chipid: DEVICE, payload: 'Canary' });
    const [noted, ...more] = journal.logs.filter(({ level }) => level === 98);
    assert.deepEqual(more, []);
    const { event, type } = noted as unknown as Record<string, string>;
    assert.deepEqual([event, type], ['device-cloud.apps.explain', 'device-cloud-push']);
    assert.ok(!JSON.stringify(noted).includes('Canary'));
  });
});
