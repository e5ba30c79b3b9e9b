import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelMethods } from '../contenders/channel-methods';
import type { Check, Table } from '../report/results';
import { least } from '../report/statistics';
import { startChild } from '../process/child';
import { channelsOpen, withPeer, type Context } from './context';

const CHANNELS = 100;
/** Parts of the uptime, after each of which the memory is read. */
const PARTS = 6;
/** Milliseconds until what is under way has ended. */
const REST = 1000;
const WINDOW = 4;

/** The listener's memory in the course of very many uploads. */
export async function measureUptime({ plan, service, http }: Context): Promise<Table> {
  const settings = { baseUrl: http, flow: 'ours' };
  const heap: number[] = [];
  const uploads: number[] = [];
  await withPeer(startChild<ChannelMethods>('contenders/channels-flow', settings), async (peer) => {
    await peer.ask('open', CHANNELS);
    await channelsOpen(service, CHANNELS);
    let total = 0;
    for (let part = 1; part <= PARTS; part++) {
      while (total < (plan.uptime * part) / PARTS) {
        await peer.ask('begin');
        const { operations } = await service.ask('flood', { seconds: plan.warm, window: WINDOW });
        await peer.ask('end', operations);
        total += operations;
      }
      await sleep(REST);
      heap.push((await peer.ask('memory')).heap / 1e6);
      uploads.push(total);
    }
  });
  return {
    id: 'uptime',
    title: `The listener's memory with uptime, ${CHANNELS} channels`,
    columns: [
      { key: 'uploads', label: 'uploads received', unit: '', digits: 0 },
      { key: 'heap', label: 'objects', unit: 'MB', digits: 2 },
    ],
    rows: heap.map((megabytes, part) => ({
      contender: String(part),
      label: `part ${part + 1}`,
      role: 'ours',
      values: { uploads: [uploads[part] ?? NaN], heap: [megabytes] },
    })),
  };
}

/** The least of several parts: what is only passing through is not in all of them. */
const leastOf = (table: Table, key: string, from: number, to: number): number =>
  least(table.rows.slice(from, to).flatMap(({ values }) => values[key] ?? []));

/** The second half of the uptime held against the first. */
export function checkUptime(table: Table): Check[] {
  const half = table.rows.length / 2;
  const gained = (key: string): number =>
    leastOf(table, key, half, table.rows.length) - leastOf(table, key, 0, half);
  return [
    {
      id: 'uptime',
      text: "The listener's memory: bytes that stay of an upload",
      values: [Math.max(0, (gained('heap') * 1e6) / gained('uploads'))],
      // The least that can be kept of one is a number, of 8 bytes.
      ...{ unit: '', digits: 2, most: 4 },
    },
  ];
}
