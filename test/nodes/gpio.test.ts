import assert from 'node:assert/strict';
import type { Simulator } from '../../src/simulator';
import { node } from './support/flow';
import { call, fail } from './support/messages';
import { startWith, useNodeRed } from './support/node-red';

describe('the gpio node', () => {
  useNodeRed();
  let cloud: Simulator;
  const chipid = '10000001';
  const levels = () => cloud.device(chipid).levels;

  async function start(properties: object = {}): Promise<void> {
    cloud = await startWith(
      node('gpio', properties),
      node('gpio', { ...properties, id: 'read', operation: 'read' }),
    );
  }

  it('sets the pin of the message to the level of the payload', async () => {
    await start();
    const { _msgid, ...out } = await call('gpio', { chipid, pin: 5, payload: 1, topic: 't' });
    assert.ok(_msgid);
    assert.deepEqual(out, {
      chipid,
      pin: 5,
      topic: 't',
      payload: { result: 'OK' },
      statusCode: 200,
    });
    assert.equal(levels()[5], '1');
    assert.equal(cloud.requests.at(-1)?.method, 'POST');
    assert.equal(cloud.requests.at(-1)?.path, `/openapi/set_gpio_edge/${chipid}/5/1/`);
  });

  it('refuses any other level and pin, and says where one is missing; nothing is sent', async () => {
    await start();
    await fail('gpio', { chipid, pin: 1, payload: 'yes' }, 'INVALID_INPUT');
    const { error } = await fail('gpio', { chipid, pin: 1 }, 'INVALID_INPUT');
    assert.match(error.message, /msg\.payload is missing: set it to the level/);
    await fail('gpio', { chipid, pin: '1e9', payload: 1 }, 'INVALID_INPUT');
    await fail('read', { chipid, pin: '' }, 'INVALID_INPUT');
    assert.equal(cloud.requests.length, 0);
  });

  it('reads the value of one pin', async () => {
    await start();
    await call('gpio', { chipid, pin: 2, payload: 'on' });
    const { _msgid, ...out } = await call('read', { chipid, pin: '2', payload: 'old', topic: 't' });
    assert.ok(_msgid);
    assert.deepEqual(out, {
      chipid,
      pin: '2',
      topic: 't',
      payload: 1,
      result: '0010000000000000',
      statusCode: 200,
    });
    assert.equal((await call('read', { chipid, pin: 0 })).payload, 0);
  });

  it('reads all pins when the pin is left empty', async () => {
    await start({ pin: '' });
    const out = await call('read', { chipid, pin: 3 });
    assert.deepEqual(out.payload, new Array(16).fill(0));
    assert.equal(out['result'], '0'.repeat(16));
  });

  it('maps each level character by its codes, and leaves unknown ones as they are', async () => {
    await start({ codes: '{"1":"an","2":false}' });
    await call('gpio', { chipid, pin: 0, payload: 1 });
    assert.equal((await call('read', { chipid, pin: 0 })).payload, 'an');
    const other = await call('read', { chipid, pin: 1 });
    assert.equal(other.payload, '0');
    assert.equal(other['result'], `1${'0'.repeat(15)}`);
  });
});
