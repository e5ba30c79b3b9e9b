import assert from 'node:assert/strict';
import helper from 'node-red-node-test-helper';
import type { NodeMessage } from 'node-red';
import type { Simulator } from '../../src/simulator';
import type { FlowNode } from '../tooling/node-red/nodes';
import { until } from '../tooling/until';
import { openWithRecovery } from './support/listening';
import { cloudApp, load, node } from './support/flow';
import {
  arrivedAt,
  arrive,
  call,
  caught,
  fail,
  logged,
  post,
  send,
  shows,
} from './support/messages';
import { startCloud, startWith, useNodeRed } from './support/node-red';

const CHIPID = '10000001';

const type = (properties: object = {}): FlowNode => ({
  ...{ id: 'type', type: 'device-cloud-type', name: 'sensor' },
  ...properties,
});

const BYTES = {
  decode: 'bytes',
  bytes: 'i16be temperature / 100, u8 battery',
  units: 'temperature: °C',
};
const UPLOAD = Buffer.from('086650', 'hex');
const DECODED = { temperature: 21.5, battery: 80 };

const typed = (properties: object = {}): object => ({ deviceType: 'type', ...properties });

const listen = (properties: object = {}): FlowNode =>
  node('listen', typed({ chipids: [CHIPID], ...properties }));

/** What the message of a decoded upload has of its type. */
const fieldsOf = ({ payload, raw, units }: NodeMessage & { raw?: unknown; units?: unknown }) => ({
  ...{ payload, raw, units },
});
const DECODED_FIELDS = { payload: DECODED, raw: undefined, units: { temperature: '°C' } };

/** The properties of a message that are bytes. */
const buffersOf = (message: NodeMessage): string[] =>
  Object.keys(message).filter((key) => Buffer.isBuffer(message[key]));

describe('a type of devices', () => {
  useNodeRed();
  let cloud: Simulator;

  async function start(...nodes: FlowNode[]): Promise<void> {
    cloud = await startWith(...nodes);
    if (nodes.some(({ id }) => id === 'listen'))
      await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
  }

  it('decodes what a listener emits, live or recovered, with the units', async () => {
    cloud = await startCloud();
    await openWithRecovery(cloud, [CHIPID], {}, type(BYTES), listen());
    cloud.upload(CHIPID, UPLOAD);
    cloud.upload(CHIPID, UPLOAD);
    const [first, second] = (await arrive(2)) as (NodeMessage & { units: object })[];
    assert.deepEqual(fieldsOf(first!), DECODED_FIELDS);
    assert.notEqual(first?.units, second?.units, 'a flow may change them');
    assert.deepEqual(buffersOf(first!), [], 'a chart cannot keep a Buffer');
    cloud.disconnect(CHIPID);
    // As text, which a history can keep.
    cloud.upload(CHIPID, 'def');
    const [, , recovered] = await arrive(3);
    assert.equal(recovered?.['replayed'], true);
    assert.deepEqual(recovered.payload, { temperature: 257.01, battery: 102 });
  });

  it('adds the bytes only if it says so', async () => {
    await start(
      type({ ...BYTES, withRaw: true }),
      listen(),
      node('latest', typed()),
      node('history', typed({ split: true, datatype: 'auto-detect' })),
    );
    cloud.upload(CHIPID, UPLOAD);
    const [live] = await arrive(1);
    assert.deepEqual(fieldsOf(live!), { ...DECODED_FIELDS, raw: UPLOAD });
    const latest = await call('latest', { chipid: CHIPID });
    assert.deepEqual(fieldsOf(latest), { ...DECODED_FIELDS, raw: UPLOAD });
    const { error } = await send('history', { chipid: CHIPID });
    assert.equal(error, undefined);
    const [, , record] = await arrive(3);
    assert.deepEqual(fieldsOf(record!), { ...DECODED_FIELDS, raw: UPLOAD });
  });

  it('decodes pairs, and text in the charset of the application', async () => {
    cloud = await startCloud();
    const app = cloudApp(cloud, { charset: 'gbk' });
    await load([app, type({ decode: 'pairs', equals: ':' }), listen()]);
    await until(() => cloud.channels(CHIPID) === 1, 'the channel is open');
    cloud.upload(CHIPID, Buffer.from('cec2b6c83a32312e353b', 'hex'));
    assert.deepEqual((await arrive(1))[0]?.payload, { 温度: 21.5 });
  });

  it('adds units also where the output of the node decodes', async () => {
    await start(type({ units: '{"t":"°C"}' }), listen({ datatype: 'json' }));
    cloud.upload(CHIPID, '{"t":1}');
    const [{ payload, units } = {}] = await arrive(1);
    assert.deepEqual({ payload, units }, { payload: { t: 1 }, units: { t: '°C' } });
  });

  it('makes an upload that cannot be decoded one error with its bytes, and the next ones go on', async () => {
    await start(type(BYTES), listen());
    cloud.upload(CHIPID, Buffer.from([1]));
    cloud.upload(CHIPID, UPLOAD);
    await arrive(1);
    const [error] = await caught(1);
    assert.equal(error?.error.code, 'INVALID_RESPONSE');
    assert.match(
      error?.error.message ?? '',
      /type "sensor": it is too short, with 1 of the 3 bytes/,
    );
    assert.deepEqual(
      [error?.payload, error?.['raw'], error?.['chipid']],
      [Buffer.from([1]), Buffer.from([1]), CHIPID],
    );
    assert.equal(arrivedAt('caught').length, 1);
  });

  it('decodes the latest upload, of one device and of all', async () => {
    await start(type(BYTES), listen(), node('latest', typed()), {
      ...node('latest', typed({ chipid: '' })),
      id: 'all',
    });
    cloud.upload(CHIPID, UPLOAD);
    await arrive(1);
    assert.deepEqual(fieldsOf(await call('latest', { chipid: CHIPID })), DECODED_FIELDS);
    const { payload } = await call('all', {});
    const [entry] = payload as NodeMessage[];
    assert.deepEqual(fieldsOf(entry!), DECODED_FIELDS);
    cloud.upload(CHIPID, Buffer.from([9]));
    await caught(1);
    const error = await fail('latest', { chipid: CHIPID }, 'INVALID_RESPONSE');
    assert.deepEqual([error.payload, error['raw']], [Buffer.from([9]), Buffer.from([9])]);
    const [wrong] = (await call('all', {})).payload as {
      payload: null;
      error: { message: string };
    }[];
    assert.equal(wrong?.payload, null);
    assert.match(wrong?.error.message ?? '', /too short/);
  });

  describe('decodes a history', () => {
    const PAIRS = { decode: 'pairs', units: '{"t":"°C"}' };
    const bodies = ['t=1', 'broken', 't=3'];

    it('as an array', async () => {
      await start(type(PAIRS), node('history', typed({ datatype: 'auto-detect' })));
      for (const body of bodies) cloud.upload(CHIPID, body);
      const out = await call('history', { chipid: CHIPID });
      const records = out.payload as {
        id: number;
        body: unknown;
        raw?: Buffer;
        error?: { code: string };
      }[];
      assert.deepEqual(out['units'], { t: '°C' });
      assert.deepEqual(
        records.map(({ body, raw }) => [body, raw?.toString()]),
        [
          [{ t: 1 }, undefined],
          [Buffer.from('broken'), 'broken'],
          [{ t: 3 }, undefined],
        ],
      );
      assert.equal(records[1]?.error?.code, 'INVALID_RESPONSE');
    });

    it('but not the records as they are', async () => {
      await start(type(PAIRS), node('history', typed()));
      cloud.upload(CHIPID, 't=1');
      const { payload, units } = await call('history', { chipid: CHIPID });
      assert.deepEqual([(payload as { body: unknown }[])[0]?.body, units], ['t=1', undefined]);
    });

    it('split into messages, of which those that cannot be decoded are errors', async () => {
      await start(type(PAIRS), node('history', typed({ split: true, datatype: 'utf8' })));
      for (const body of bodies) cloud.upload(CHIPID, body);
      const { error } = await send('history', { chipid: CHIPID });
      assert.equal(error, undefined);
      const messages = await arrive(2);
      assert.deepEqual(
        messages.map(({ payload }) => payload),
        [{ t: 1 }, { t: 3 }],
      );
      assert.deepEqual([messages[0]?.['raw'], messages[0]?.['units']], [undefined, { t: '°C' }]);
      const [wrong] = await caught(1);
      assert.deepEqual(
        [wrong?.payload, wrong?.['raw']],
        [Buffer.from('broken'), Buffer.from('broken')],
      );
      assert.match(wrong?.error.message ?? '', /history record 2 cannot be decoded/);
    });

    it('but not what was pushed', async () => {
      const pushes = typed({ operation: 'pushes', datatype: 'auto-detect' });
      await start(type(PAIRS), node('history', pushes), node('push'));
      await call('push', { chipid: CHIPID, payload: 't=1' });
      const [record] = (await call('history', { chipid: CHIPID })).payload as { body: unknown }[];
      assert.equal(typeof record?.body, 'string');
    });
  });

  it('decodes a reply before it is matched', async () => {
    const properties = { property: 'id', equals: '7', equalsType: 'num' };
    await start(type({ decode: 'pairs', units: 'id: #' }), node('request', typed(properties)));
    post('request', { chipid: CHIPID, payload: 'ask' });
    await until(() => cloud.requests.some(({ path }) => path.includes('push')), 'it is pushed');
    for (const body of ['?', 'id=6', 'id=7']) cloud.upload(CHIPID, body);
    const [out] = await arrive(1);
    assert.deepEqual(fieldsOf(out!), { payload: { id: 7 }, raw: undefined, units: { id: '#' } });
  });

  describe('names pins', () => {
    const PINS = { pins: 'valve: 5, lamp: 12 low' };
    const level = (pin: number): string | undefined => cloud.device(CHIPID).levels[pin];

    it('which are set, pulsed and read; what is active low is on at level 0', async () => {
      await start(
        type(PINS),
        node('gpio', typed()),
        { ...node('gpio', typed({ operation: 'read' })), id: 'read' },
        { ...node('gpio', typed({ operation: 'pulse', duration: '1' })), id: 'pulse' },
      );
      const chipid = CHIPID;
      await call('gpio', { chipid, pin: 'valve', payload: 'on' });
      await call('gpio', { chipid, pin: 'lamp', payload: 'on' });
      assert.deepEqual([level(5), level(12)], ['1', '0']);
      assert.equal((await call('read', { chipid, pin: 'lamp' })).payload, 1);
      assert.equal(
        (await call('read', { chipid, pin: 12 })).payload,
        0,
        'a number is the pin itself',
      );
      await call('gpio', { chipid, pin: 'lamp', payload: 'off' });
      assert.equal(level(12), '1');
      await call('pulse', { chipid, pin: 'lamp', payload: 'on' });
      assert.equal(cloud.requests.filter(({ path }) => path.endsWith('/12/0/')).length, 2);
      assert.equal(level(12), '1');
    });

    it('which are kept', async () => {
      await start(type(PINS), node('gpio', typed({ operation: 'keep' })));
      const { payload } = await call('gpio', { chipid: CHIPID, pin: 'lamp', payload: 'on' });
      const { pin, wanted } = payload as { pin: number; wanted: number };
      assert.deepEqual([pin, wanted, level(12)], [12, 0, '0']);
    });

    it('and lists them for a name that is unknown, before anything is sent', async () => {
      await start(type(PINS), node('gpio', typed()), {
        ...node('gpio', typed({ operation: 'read' })),
        id: 'read',
      });
      const before = cloud.requests.length;
      for (const id of ['gpio', 'read']) {
        const { error } = await fail(
          id,
          { chipid: CHIPID, pin: 'pump', payload: 1 },
          'INVALID_INPUT',
        );
        assert.match(error.message, /No pin is called "pump": the type "sensor" has valve, lamp/);
      }
      assert.equal(cloud.requests.length, before);
    });
  });

  describe('that cannot be used', () => {
    const WRONG: readonly [what: string, properties: object, text: RegExp][] = [
      ['of wrong bytes', { decode: 'bytes', bytes: 'u16 b' }, /wrong at character 1: u16 needs/],
      ['without separators', { decode: 'pairs', pairs: '' }, /must not be empty/],
      ['decoded in no known way', { decode: 'xml' }, /must be one of none, pairs/],
      ['of wrong pins', { pins: 'valve 5' }, /"valve 5" is no name of a pin/],
      ['of wrong units', { units: 'a: °C, b' }, /"b" is no field with its unit/],
    ];
    for (const [what, properties, text] of WRONG) {
      it(`says why: ${what}`, async () => {
        await start(type(properties), listen(), node('latest', typed()));
        await shows('listen', 'status.not-configured');
        await shows('latest', 'status.not-configured');
        assert.equal(logged(text, 'type').length, 1);
        cloud.upload(CHIPID, 'x');
        const [error] = await caught(1);
        assert.match(error?.error.message ?? '', text);
        assert.deepEqual([error?.payload, error?.['raw']], [Buffer.from('x'), Buffer.from('x')]);
      });
    }

    it('since it is missing, costs no upload', async () => {
      await start(listen(), node('gpio', typed()));
      await shows('listen', 'status.not-configured');
      cloud.upload(CHIPID, 'x');
      const [error] = await caught(1);
      assert.match(error?.error.message ?? '', /type of the devices is missing or disabled/);
      assert.deepEqual(error?.payload, Buffer.from('x'));
      await fail('gpio', { chipid: CHIPID, pin: 5, payload: 1 }, 'NOT_CONFIGURED');
    });
  });

  it('warns of another type with its name', async () => {
    await start(type(), type({ id: 'other' }));
    assert.equal(logged(/Another type is called "sensor"/).length, 1);
    assert.ok(helper.getNode('other'));
  });
});
