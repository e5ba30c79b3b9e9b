import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import nodeRed from '@node-red/util';
import type { Node, NodeAPI } from 'node-red';
import { endLogged } from '../../nodes/common/errors';

describe('a message that ends while its node closes', () => {
  const { log } = nodeRed;
  const RED = { log } as unknown as NodeAPI;
  const error = new Error('not sent');
  let lines = 0;
  const node = {
    id: 'node',
    error: (msg: unknown) => log.log({ level: log.ERROR, id: 'node', msg }),
  } as unknown as Node;
  /** As the Debug node of every Node-RED does, which has been there for longer. */
  const debug = new EventEmitter().on('log', (line: { id?: string; msg?: unknown }) => {
    if (line.id === 'node') lines++;
    line.msg = 'encoded';
  });

  beforeEach(() => {
    lines = 0;
    log.addHandler(debug);
  });
  afterEach(() => log.removeHandler(debug));

  it('is logged once if Node-RED logs it', () => {
    endLogged(RED, node, error, (each) => node.error(each));
    assert.equal(lines, 1);
  });

  it('is logged once if a Catch node that was closed swallows it', () => {
    endLogged(RED, node, error, () => undefined);
    assert.equal(lines, 1);
  });
});
