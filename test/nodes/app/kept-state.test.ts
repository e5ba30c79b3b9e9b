import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node, NodeAPI } from 'node-red';
import { KeptState } from '../../../nodes/app/kept-state';
import { temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';

describe('the kept state of an application', () => {
  it('has the last value of a node that closes in the same turn as the application', async () => {
    const userDir = temporaryFolder('kept');
    const warnings: string[] = [];
    const nodeOf = (id: string, type: string): Node =>
      Object.assign(new EventEmitter(), {
        ...{ id, type: `device-cloud-${type}` },
        warn: (line: string) => warnings.push(line),
      }) as unknown as Node;
    const user = nodeOf('listen', 'listen');
    const RED = { settings: { userDir } } as unknown as NodeAPI;
    const state = new KeptState(RED, nodeOf('app', 'app'), { state: 'file' });
    const kept = await state.value('one', user, 'positions');
    const file = join(userDir, 'device-cloud', 'app', 'listen-positions-listen.json');
    kept.write(() => ({ n: 1 }));
    await until(() => existsSync(file), 'the first value is written');
    // Within the second in which nothing is written again.
    kept.write(() => ({ n: 2 }));
    let isDone = false;
    user.emit('close', false, () => (isDone = true));
    await state.close(false);
    assert.match(readFileSync(file, 'utf8'), /"n":2/);
    assert.ok(isDone);
    assert.ok(!existsSync(join(userDir, 'device-cloud', 'app', 'lock')));
    assert.deepEqual(warnings, []);
  });
});
