import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../../../tooling/servers/at-end';
import { removeFolder, temporaryFolder } from '../../../tooling/temporary-folder';
import { until } from '../../../tooling/until';
import { simulator } from '../support/client';
import { MemoryStore } from './memory-store';
import { ProcessModel } from './processes';

describe('the device books of several processes', () => {
  it('are compared: each process names those whose copy is another one, also one that joins later', async () => {
    const folder = temporaryFolder('cluster-books');
    atEnd(() => removeFolder(folder));
    const service = await simulator({ devices: 1 });
    const store = new MemoryStore();
    const file = (name: string): string => join(folder, name);
    const start = (name: string, csv: string): ProcessModel => {
      writeFileSync(file(name), csv);
      return new ProcessModel(store, service, { book: file(name) });
    };
    const named = (process: ProcessModel): string[] => process.client.fleet.otherBooks();
    const first = start('a.csv', 'chipid,name\n1,Gate\n');
    const second = start('b.csv', 'chipid,name\n1,Gate\n');
    await until(() => second.member.members.length === 2);
    const third = start('c.csv', 'chipid,name\n1,Door\n');
    const others = [first.member.member, second.member.member];
    await until(() => named(third).length === 2, 'the third differs from both');
    assert.deepEqual(named(third).sort(), others.sort());
    for (const process of [first, second])
      await until(
        () => named(process).join() === third.member.member,
        'they agree with each other',
      );
    writeFileSync(file('c.csv'), 'chipid,name\n1,Gate\n');
    for (const process of [first, second, third])
      await until(() => named(process).length === 0, 'all have the same');
    writeFileSync(file('a.csv'), 'chipid,name\n1,New\n');
    await until(() => named(second).join() === first.member.member, 'the first has another one');
    await first.kill();
    await until(() => named(second).length === 0, 'it is gone');
  });
});
