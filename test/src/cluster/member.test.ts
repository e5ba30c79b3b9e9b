import assert from 'node:assert/strict';
import { Cluster, clusterOf } from '../../../src/cluster/cluster';
import { MemoryStore } from './memory-store';
import { StoreError } from '../../../src/cluster/store';
import { uploadToText } from '../../../src/cluster/messages';
import {
  joinCluster,
  type ClusterJob,
  type ClusterMember,
  type ClusterSettings,
  type Upload,
} from '../../../src/for-nodes';
import { atEnd } from '../../../tooling/servers/at-end';
import { until } from '../../../tooling/until';
import { failure } from '../support/failure';

const UPLOAD: Upload = {
  ...{ chipid: '7', appid: '9', timestamp: 1_700_000_000_000, body: Buffer.from('21.5') },
  ...{ replayed: true, id: 5, altered: true, type: 'uart_trans' },
};

function joinOne(store = new MemoryStore()): { store: MemoryStore; member: ClusterMember } {
  const member = new Cluster({ store, lease: 0.5 });
  atEnd(() => member.close());
  return { store, member };
}

describe('the membership in a cluster', () => {
  it('refuses invalid settings without repeating their values', async () => {
    const wrong: [Partial<ClusterSettings>, RegExp][] = [
      [{ lease: 1000 }, /lease .* from 2 to 60/],
      [{ lease: NaN }, /lease/],
      [{ application: '' }, /application/],
      [{ url: 'http://user:secret@host' }, /redis:\/\//],
      [{ password: 7 as unknown as string }, /password of the cluster must be text/],
    ];
    for (const [settings, text] of wrong) {
      const joined = joinCluster({ url: 'redis://127.0.0.1:1', application: '1', ...settings });
      const error = await failure(joined, 'NOT_CONFIGURED');
      assert.match(error.message, text);
      assert.doesNotMatch(error.message, /secret/);
    }
  });

  it('shows the members, and which of them holds each device', async () => {
    const { store, member } = joinOne();
    let changes = 0;
    member.listen({ onMembers: () => changes++ });
    const other = joinOne(store).member;
    await until(() => member.state === 'member' && member.members.length === 2);
    assert.deepEqual(member.members, [member.member, other.member].sort());
    assert.ok(changes > 0);
    for (const each of [member, other]) clusterOf(each).claims.use('listens');
    await until(() => [member, other].some((each) => clusterOf(each).mayEmit('1')));
    const owner = (await member.owners()).of('1');
    assert.ok(owner !== undefined && member.members.includes(owner));
  });

  it('delivers the queue, drops entries that are not uploads, and acknowledges by token', async () => {
    const { member } = joinOne();
    const faults: string[] = [];
    member.listen({ onFault: (fault) => faults.push(fault) });
    const cluster = clusterOf(member);
    // Otherwise it takes no share of the devices, and may append nothing.
    cluster.claims.use('listens');
    const jobs: ClusterJob[] = [];
    const end = member.work({ deliver: (job) => jobs.push(job) });
    assert.throws(() => member.work({ deliver: () => undefined }), { code: 'NOT_CONFIGURED' });
    await until(() => member.state === 'member');
    await until(() => cluster.mayEmit('7'));
    const wrong = uploadToText({ ...UPLOAD, type: 'x'.repeat(65) });
    for (const upload of ['{"x":', wrong, uploadToText(UPLOAD)])
      cluster.positions.append('7', 'p', upload);
    await until(() => jobs.length === 1);
    const [{ token, upload, redelivered }] = jobs as [ClusterJob];
    assert.deepEqual([upload, redelivered, faults.length], [UPLOAD, false, 1]);
    assert.deepEqual(
      [await member.acknowledge(token), await member.acknowledge(token)],
      [true, false],
    );
    for (const wrong of ['', 'x', '99:x', ':1', 7]) {
      await failure(member.acknowledge(wrong as string), 'INVALID_INPUT');
    }
    end();
    member.work({ deliver: () => undefined })();
  });

  it('fails with UNREACHABLE if the engine does not answer', async () => {
    const { store, member } = joinOne();
    const gone = (): Promise<never> => Promise.reject(new StoreError('Not connected.', false));
    Object.assign(store, { info: gone, owners: gone, acknowledge: gone });
    await failure(member.info(), 'UNREACHABLE');
    await failure(member.owners(), 'UNREACHABLE');
    await failure(member.acknowledge('1:1-1'), 'UNREACHABLE');
  });
});
