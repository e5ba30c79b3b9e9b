import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import { Keeper } from '../../../nodes/app/kept-commands';
import { Journal } from '../../../src/state/journal';
import { WaitingStore } from '../../../src/state/waiting-store';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';

describe('waiting commands that are read while a deploy is under way', () => {
  it('go to their node once it has started again', async () => {
    const path = join(temporaryFolder('commands'), 'commands.jsonl');
    const journal = await Journal.open(path, {
      log: () => undefined,
      isMine: () => Promise.resolve(true),
    });
    const now = Date.now();
    await journal.set('id', {
      ...{ order: 1, path: '/', when: 'upload', since: now, until: now + 60_000 },
      ...{ chipids: ['1'], node: 'push', what: {} },
    });
    const events = new EventEmitter();
    const warnings: string[] = [];
    const nodeOf = (id: string): Node =>
      ({ id, type: id, warn: (line: string) => warnings.push(line) }) as unknown as Node;
    let setFree: (store: WaitingStore) => void = () => undefined;
    const store = new Promise<WaitingStore>((resolve) => (setFree = resolve));
    const keeper = new Keeper({ events } as unknown as NodeAPI, nodeOf('app'), {
      ...{ application: () => 'one', titleOf: (chipid) => chipid },
      ...{ mayHaveMore: () => true, store: () => store },
    });
    const resumed: string[] = [];
    const start = (): (() => void) => {
      const end = keeper.register(nodeOf('push'), {}, ({ id }) => resumed.push(id));
      events.emit('flows:started');
      return end;
    };
    const end = start();
    events.emit('flows:stopping');
    end();
    setFree(new WaitingStore(journal));
    await keeper.ready;
    assert.deepEqual([resumed, warnings], [[], []]);
    start();
    await until(() => resumed.length > 0, 'it is given back');
    assert.deepEqual([resumed, warnings], [['id'], []]);
    keeper.close(false);
    await journal.close();
  });
});
