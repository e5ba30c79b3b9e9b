import assert from 'node:assert/strict';
import { Server } from 'node:net';
import { load, node, simulatorApp } from '../support/flow';
import { call, fail } from '../support/messages';
import { useNodeRed } from '../support/node-red';

/** Nothing can listen any more, as when the process has no file handle left. */
function noMoreListening(): () => void {
  const usual = Object.getOwnPropertyDescriptor(Server.prototype, 'listen')!;
  const refuse = function (this: Server): Server {
    process.nextTick(() => this.emit('error', new Error('listen EMFILE: too many open files')));
    return this;
  };
  Object.defineProperty(Server.prototype, 'listen', { ...usual, value: refuse });
  return () => {
    Object.defineProperty(Server.prototype, 'listen', usual);
  };
}

describe('a simulator that could not start', () => {
  useNodeRed();
  const chipid = '10000001';
  let recover: () => void;
  beforeEach(() => {
    recover = noMoreListening();
  });
  afterEach(() => recover());

  it('is started again by the next message', async () => {
    await load([simulatorApp(), node('refresh'), node('reboot')]);
    for (const id of ['refresh', 'reboot', 'refresh']) {
      const { error } = await fail(id, { chipid }, 'UNREACHABLE');
      assert.match(error.message, /simulator could not be started.*EMFILE/);
    }
    recover();
    assert.equal((await call('refresh', { chipid }))['online'], true);
    await call('reboot', { chipid });
  });

  it('is reported by a dynamic listener, which works as soon as it starts', async () => {
    await load([simulatorApp(), node('listen', { devices: 'dynamic', inputs: 1 })]);
    const { error } = await fail('listen', { action: 'subscribe', chipid }, 'UNREACHABLE');
    assert.match(error.message, /simulator could not be started.*EMFILE/);
    recover();
    assert.deepEqual((await call('listen', { action: 'list' })).payload, []);
  });
});
