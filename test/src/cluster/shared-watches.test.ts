import assert from 'node:assert/strict';
import type { ClusterListener } from '../../../src/cluster/types';
import { shareWatches } from '../../../src/cluster/fleet';
import type { WatchPlace } from '../../../src/fleet/watch/watch-types';
import { tick, useClock } from '../../support/clock';

/** The messages of watches, as `to kind chipids`, and the changes of the cluster that are reported to them. */
function subject() {
  const posted: string[] = [];
  const owned = new Set(['1', '2']);
  let heard: ClusterListener = {};
  const cluster = {
    owns: (chipid: string) => owned.has(chipid),
    claims: { use: () => () => undefined },
    mayEmit: (chipid: string) => owned.has(chipid),
    listen(listener: ClusterListener) {
      heard = listener;
      return () => undefined;
    },
  };
  const bus = {
    on: () => undefined,
    post(to: string | undefined, kind: string, data: object) {
      const { devices = [] } = data as { devices?: string[][] };
      posted.push([to ?? 'all', kind, ...devices.map(([chipid]) => chipid)].join(' '));
    },
  };
  const watches = shareWatches(cluster, bus);
  const place: WatchPlace = watches.join({
    key: 'k',
    states: () => ['1', '2', '3'].map((chipid) => [chipid] as const),
    apply: () => undefined,
    moved: () => undefined,
  });
  return { watches, posted: () => posted.splice(0), owned, cluster: () => heard, place };
}

describe('the state that a watch sends to other processes', () => {
  useClock();

  it('contains its own devices that have changed, several at once', () => {
    const { posted, place } = subject();
    assert.deepEqual(posted(), ['all watching']);
    for (const chipid of ['1', '2', '3']) place.changed(chipid);
    assert.deepEqual(posted(), []);
    tick(200);
    tick(200);
    assert.deepEqual(posted(), ['all watched 1 2']);
  });

  it('is sent before another process may hold the device', () => {
    const { posted, owned, cluster, place } = subject();
    posted();
    place.changed('1');
    owned.delete('1');
    cluster().onShare?.();
    assert.deepEqual(posted(), ['all watched 1']);
  });

  it('is sent before the watch ends', () => {
    const { posted, place } = subject();
    posted();
    place.changed('2');
    place.leave();
    assert.deepEqual(posted(), ['all watched 2']);
  });

  it('is requested again once the cluster can be reached', () => {
    const { posted, cluster } = subject();
    posted();
    cluster().onState?.('awaiting');
    cluster().onState?.('member');
    assert.deepEqual(posted(), ['all watching']);
  });
});

describe('the events of all devices', () => {
  it('are emitted by one process that holds devices, whichever other processes are members', () => {
    const { watches, owned, place } = subject();
    assert.equal(watches.emitsForAll, false);
    owned.add('0');
    assert.equal(watches.emitsForAll, true);
    place.leave();
  });
});
