import assert from 'node:assert/strict';
import { Bus } from '../../../src/cluster/messages';
import { remoteLatest } from '../../../src/cluster/fleet';
import type { KnownUpload } from '../../../src/fleet/latest';
import { MemoryStore } from './memory-store';
import { atEnd } from '../../../tooling/servers/at-end';

/** A store whose messages take a while. */
class SlowStore extends MemoryStore {
  /** Bytes on their way, and the most that there were. */
  onTheWay = 0;
  most = 0;

  override async publish(topic: string, text: string): Promise<void> {
    this.onTheWay += text.length;
    this.most = Math.max(this.most, this.onTheWay);
    await new Promise((resolve) => setTimeout(resolve, 50));
    this.onTheWay -= text.length;
    await super.publish(topic, text);
  }
}

const COUNT = 500;

const all: KnownUpload[] = Array.from({ length: COUNT }, (_, index) => ({
  ...{ chipid: String(index), timestamp: index, source: 'live', truncated: false },
  body: Buffer.alloc(8 * 1024, index),
}));

/** A device as the registry has it. */
const deviceOf = (upload: KnownUpload) => ({
  chipid: upload.chipid,
  latest: { timestamp: upload.timestamp, toLatest: () => ({ ...upload, age: 0 }) },
});

describe('the latest uploads of all devices', () => {
  it('come from another process in pieces, one after another, however long that takes', async () => {
    const store = new SlowStore();
    const members = ['a', 'b'];
    const [asking] = members.map((member) => {
      const bus = new Bus(store, member, () => assert.fail('malformed'));
      const devices = member === 'b' ? all.map(deviceOf) : [];
      const registry = { devices: () => devices, get: () => undefined };
      atEnd(() => bus.close());
      return remoteLatest({ member, members }, bus, registry);
    });
    const found = await asking!.ask();
    assert.deepEqual(
      [found.length, new Set(found.map(({ chipid }) => chipid)).size],
      [COUNT, COUNT],
    );
    assert.ok(store.most < 1024 * 1024, `${store.most} bytes were on their way at once`);
  });
});
