import assert from 'node:assert/strict';
import { ONE, THREE, TWO, fixture } from './harness/fixture';
import { around, buffer } from './harness/flows';
import { app, node } from '../../tooling/node-red/nodes';

describe('device-cloud-push in a real Node-RED', () => {
  const here = fixture((simulator) => [
    app(simulator),
    ...around('text', node('push')),
    ...around('hex', node('push', { format: 'HEX' })),
    ...around('base64', node('push', { format: 'B64' })),
    ...around('chosen', node('push', { format: 'msg' })),
    ...around('fixed', node('push', { chipid: TWO, chipidType: 'str', message: 'body.text' })),
    ...around('all', node('push', { target: 'app' })),
    ...around('channel', node('push', { transport: 'channel' })),
    ...around('channel-hex', node('push', { transport: 'channel', format: 'HEX' })),
  ]);

  const received = (chipid = ONE): string =>
    here.simulator.device(chipid).received.at(-1)!.bytes.toString('hex');
  const hex = (text: string): string => Buffer.from(text).toString('hex');

  it("sends the device's answer on and leaves the rest of the message as it was", async () => {
    const { sent } = await here.red.ask('text', {
      chipid: 10000001,
      payload: 'grün & 1+1=2 50%',
      topic: 'greeting',
      own: { deep: [1, 2] },
    });
    const [{ _msgid, ...message }] = sent as [Record<string, unknown>];
    assert.equal(typeof _msgid, 'string');
    assert.deepEqual(message, {
      payload: { msg: 'OK' },
      chipid: ONE,
      statusCode: 200,
      topic: 'greeting',
      own: { deep: [1, 2] },
    });
    assert.equal(received(), hex('grün & 1+1=2 50%'));
  });

  it('puts the text into the body, ends the path in a slash and names itself', async () => {
    await here.red.ask('text', { chipid: ONE, payload: 'in the body' });
    const request = here.simulator.requests.at(-1)!;
    assert.equal(request.method, 'POST');
    assert.equal(request.path, '/openapi/dev/push/message/');
    assert.ok(!request.query.includes('message'));
    assert.equal(new URLSearchParams(request.body).get('message'), 'in the body');
    assert.match(request.headers['user-agent'] ?? '', /device-cloud\S*\/\d+\.\d+\.\d+/);
  });

  for (const [what, payload, arrives] of [
    ['a number', 21.5, hex('21.5')],
    ['a boolean', false, hex('false')],
    ['an object as JSON', { set: [1, 'x'] }, hex('{"set":[1,"x"]}')],
    ['a Buffer of UTF-8', buffer(hex('süß')), hex('süß')],
    ['text with line breaks and an emoji', 'a\r\nb 👍', hex('a\r\nb 👍')],
  ] as const) {
    it(`pushes ${what} as text`, async () => {
      await here.red.ask('text', { chipid: ONE, payload });
      assert.equal(received(), arrives);
    });
  }

  it('pushes bytes from hex digits, Base64 and Buffers', async () => {
    for (const [name, payload] of [
      ['hex', '00 01 fF'],
      ['hex', buffer('0001ff')],
      ['base64', 'AAH/'],
      ['base64', buffer('0001ff')],
    ] as const) {
      await here.red.ask('text', { chipid: ONE, payload: 'something else' });
      await here.red.ask(name, { chipid: ONE, payload });
      assert.equal(received(), '0001ff', name);
    }
  });

  it('takes the format from the message', async () => {
    for (const format of ['MSG', 'AT', 'LUA'] as const) {
      await here.red.ask('chosen', { chipid: ONE, format, payload: `as ${format}` });
      const last = here.simulator.device(ONE).received.at(-1)!;
      assert.deepEqual([last.format, last.text], [format, `as ${format}`]);
    }
  });

  it('pushes a property of the message to a device that is set in the node', async () => {
    const { sent } = await here.red.ask('fixed', { body: { text: 'to the second' }, chipid: ONE });
    assert.equal(sent[0]!['chipid'], TWO);
    assert.equal(received(TWO), hex('to the second'));
  });

  it('pushes to every online device of the application', async () => {
    const { sent } = await here.red.ask('all', { payload: 'to all' });
    assert.deepEqual(sent[0]!.payload, { msg: 'success' });
    for (const chipid of [ONE, TWO, THREE]) assert.equal(received(chipid), hex('to all'));
  });

  it('pushes over the channel', async () => {
    const { sent } = await here.red.ask('channel', { chipid: TWO, payload: 'süß' });
    assert.deepEqual(sent[0]!.payload, { msg: 'sent' });
    assert.equal(sent[0]!['chipid'], TWO);
    await here.red.ask('channel-hex', { chipid: TWO, payload: '00ff' });
    assert.deepEqual(
      here.simulator.frames.map(({ text }) => (JSON.parse(text) as { body: string }).body),
      [Buffer.from('süß').toString('base64'), 'AP8='],
    );
  });
});
