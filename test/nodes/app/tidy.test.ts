import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import type { NodeAPI } from 'node-red';
import { tidyFolders, tidyStore } from '../../../nodes/app/store';
import { Files } from '../../../src/store/files';
import { Store } from '../../../src/store/store';
import { temporaryFolder } from '../../tooling/temporary-folder';

const DAY = 24 * 60 * 60_000;

describe('what belongs to nothing in the flows', () => {
  let userDir: string;
  let ids: string[];
  let lines: string[];
  let ended: string[];
  const RED = {
    settings: {
      get userDir() {
        return userDir;
      },
    },
    nodes: { eachNode: (each: (node: object) => void) => ids.forEach((id) => each({ id })) },
    log: { warn: (line: string) => void lines.push(line) },
  } as unknown as NodeAPI;
  const folder = (): string => join(userDir, 'device-cloud', 'app');
  const open = (): Store =>
    new Store(new Files(folder(), { of: () => 'one', log: (line) => lines.push(line) }));
  const tidy = (removed: string[] = []): Promise<void> =>
    tidyFolders(RED, removed, (key) => void ended.push(key));
  /** Node-RED looks twice a day, over restarts too. */
  const seenOn = async (days: number, look: () => unknown): Promise<void> => {
    for (let half = 0; half < 2 * days; half++) {
      mock.timers.setTime(Date.now() + DAY / 2);
      await look();
    }
  };

  beforeEach(async () => {
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 0, 1, 18) });
    userDir = temporaryFolder('tidy');
    [ids, lines, ended] = [['app', 'listen'], [], []];
    const store = open();
    const wish = { node: 'gpio', wanted: 1 };
    await Promise.all([
      ...[store.set('position:listen:1', { id: '7' }), store.set('pin:1:5', wish)],
      ...[store.set('command:1:b', { order: 2 }), store.set('command:1:a', { order: 1 })],
    ]);
    await store.close();
  });
  afterEach(() => mock.timers.reset());

  it('is kept for 30 days if it is an application: a project branch without it, then back, and all is there', async () => {
    ids = [];
    await seenOn(29, tidy);
    ids = ['app', 'listen'];
    await tidy();
    const store = open();
    await store.loaded;
    assert.deepEqual(
      ['position:', 'pin:', 'command:'].map((kind) => store.list(kind).length),
      [1, 1, 2],
    );
    await store.close();
    // Days away count anew.
    ids = [];
    await seenOn(29, tidy);
    assert.ok(existsSync(folder()));
    assert.deepEqual([ended, lines], [[], []]);
    await seenOn(2, tidy);
    assert.ok(!existsSync(folder()));
    assert.deepEqual([ended, lines], [['command:1:a', 'command:1:b'], []]);
  });

  it('goes at once with an application that a deploy removes; another one stays', async () => {
    ids = [];
    await tidy(['other']);
    assert.ok(existsSync(folder()));
    await tidy(['app']);
    assert.ok(!existsSync(folder()));
    assert.equal(ended.length, 2);
  });

  it('goes once if two deploys follow each other', async () => {
    ids = [];
    await Promise.all([tidy(['app']), tidy(['app'])]);
    assert.ok(!existsSync(folder()));
    assert.deepEqual([ended.length, lines], [2, []]);
  });

  it('is kept for 30 days by a clock that is years behind or ahead for a while', async () => {
    ids = [];
    for (const year of [1970, 2026, 2040, 2026, 2001]) {
      mock.timers.setTime(Date.UTC(year, 5, 1));
      await tidy();
    }
    assert.ok(existsSync(folder()));
  });

  it('is kept for 30 days if it is a node, and goes at once with one that a deploy removes', async () => {
    ids = ['app', 'gpio'];
    const store = open();
    await store.loaded;
    const kept = (): string[] =>
      ['position:', 'pin:', 'command:'].flatMap((kind) => store.list(kind).map(([key]) => key));
    await seenOn(29, () => tidyStore(RED, store, []));
    assert.equal(kept().length, 4);
    ids.push('listen');
    tidyStore(RED, store, []);
    assert.deepEqual(store.list('fact:'), []);
    ids = ['app', 'gpio'];
    await seenOn(31, () => tidyStore(RED, store, []));
    // A command ends in its own way.
    assert.deepEqual(kept().sort(), ['command:1:a', 'command:1:b', 'pin:1:5']);
    tidyStore(RED, store, ['gpio']);
    assert.equal(kept().length, 3);
    ids = ['app'];
    tidyStore(RED, store, ['gpio']);
    assert.equal(kept().length, 2);
    await store.close();
  });

  it('is not what belongs to a node whose id has a colon in it', async () => {
    const store = open();
    await store.loaded;
    ids = ['app', 'listen', 'gpio', 'x:y'];
    for (const key of ['position:x:y:1', 'event:x:y:list', 'mark:x:y:uploads:', 'mark:x:y:sync:1'])
      store.update(key, 1);
    const count = (): number =>
      ['position:x', 'event:', 'mark:'].flatMap((kind) => store.list(kind)).length;
    await seenOn(31, () => tidyStore(RED, store, ['x']));
    assert.equal(count(), 4);
    ids = ['app', 'listen', 'gpio'];
    tidyStore(RED, store, ['x:y']);
    assert.equal(count(), 0);
    await store.close();
  });
});
