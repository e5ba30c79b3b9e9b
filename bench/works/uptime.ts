import type { ChannelMethods } from '../contenders/channel-methods';
import type { Check, Table } from '../report/results';
import { startChild } from '../process/child';
import { channelsOpen, withPeer, type Context } from './context';

const CHANNELS = 100;
/** Parts of the uptime; the first one is for what is filled once. */
const PARTS = 10;
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

export function checkUptime(table: Table): Check[] {
  const at = (index: number, key: string): number => table.rows.at(index)?.values[key]?.[0] ?? NaN;
  const bytes = (at(-1, 'heap') - at(0, 'heap')) * 1e6;
  return [
    {
      id: 'uptime',
      text: "The listener's memory: bytes that stay of an upload",
      values: [bytes / (at(-1, 'uploads') - at(0, 'uploads'))],
      ...{ unit: '', digits: 2, most: 1 },
    },
  ];
}
