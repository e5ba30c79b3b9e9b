import type { ChannelMethods } from '../contenders/channel-methods';
import { ratios, valuesOf, type Check, type Column, type Table } from '../report/results';
import { startChild } from '../process/child';
import type { Memory } from '../process/meter';
import { channelsOpen, withPeer, type Context } from './context';
import { inTurn, takingPart, type Contender } from './in-turn';

type Entry = Contender & { file: string };

const CONTENDERS: readonly Entry[] = [
  {
    contender: 'limit',
    label: 'bare ws, one TLS context',
    role: 'limit',
    file: 'contenders/channels-bare',
  },
  {
    contender: 'core',
    label: 'core: websocket-client config nodes',
    role: 'today',
    file: 'contenders/channels-flow',
  },
  { contender: 'ours', label: 'listen node', role: 'ours', file: 'contenders/channels-flow' },
];

const COLUMNS: readonly Column[] = [
  { key: 'used', label: 'memory a channel', unit: 'KB', digits: 1 },
  { key: 'heap', label: 'of it objects', unit: 'KB', digits: 1 },
  { key: 'rss', label: 'resident', unit: 'KB', digits: 1 },
  { key: 'open', label: 'open', unit: '', digits: 0 },
  { key: 'dropped', label: 'dropped', unit: '', digits: 0 },
  { key: 'seconds', label: 'to open all', unit: 's', digits: 1 },
  { key: 'peak', label: 'most in a second', unit: '', digits: 0 },
  { key: 'delay', label: 'event-loop delay, p99', unit: 'ms', digits: 1 },
];

const MANY = 2000;

/** Seconds that channels need to come to rest, when nobody looks at them idling. */
const SETTLE = 2;

async function hold(
  { plan, service, ...addresses }: Context,
  scheme: 'http' | 'https',
  { contender, file }: Entry,
): Promise<Record<string, number>> {
  const settings = { baseUrl: addresses[scheme], flow: contender };
  const measured = await withPeer(startChild<ChannelMethods>(file, settings), async (peer) => {
    // One first, so that what is loaded with it is not taken for the channels'.
    await peer.ask('open', 1);
    await channelsOpen(service, 1);
    const before = await peer.ask('memory');
    await service.ask('resetConnects');
    const opening = peer.ask('open', plan.channels);
    const { open, seconds, peak } = await channelsOpen(service, plan.channels);
    await opening;
    // What ended on the way there was the one channel before a deploy.
    await service.ask('resetConnects');
    const idle = contender === 'ours' ? plan.idle : Math.min(plan.idle, SETTLE);
    const delay = await peer.ask('delay', idle);
    const after = await peer.ask('memory');
    const { ended } = await service.ask('connects');
    const each = (key: keyof Memory): number => (after[key] - before[key]) / (open - 1) / 1024;
    const memory = { used: each('used'), heap: each('heap'), rss: each('rss') };
    return { ...memory, open, dropped: ended, seconds, peak, delay };
  });
  await channelsOpen(service, 0);
  return measured;
}

/** Channels held open: memory, the pace of opening, and the event loop while they idle. */
export async function measureChannels(context: Context, scheme: 'http' | 'https'): Promise<Table> {
  const { channels, channelRounds } = context.plan;
  const contenders = takingPart(context.plan, 'channels', CONTENDERS);
  const rows = await inTurn(channelRounds, contenders, (entry) => hold(context, scheme, entry));
  const protocol = scheme === 'http' ? 'ws' : 'wss';
  return {
    id: `channels-${protocol}`,
    title: `${channels} channels over ${protocol}`,
    columns: [...COLUMNS],
    rows,
  };
}

/** @param channels how many were to be open */
export function checkChannels(table: Table, channels: number): Check[] {
  const ours = (key: string): number[] => valuesOf(table, 'ours', key);
  const check = (id: string, text: string): Pick<Check, 'id' | 'text'> => ({
    id: `${table.id}-${id}`,
    text: `${table.title}: ${text}`,
  });
  return [
    {
      ...check('memory', "memory a channel by bare ws's"),
      // Of few channels only the objects can be told from what the heap does for itself.
      values: ratios(table, 'ours', 'limit', channels < MANY ? 'heap' : 'used'),
      ...{ unit: '×', digits: 2, most: 1.5 },
    },
    {
      ...check('missing', 'not open or dropped'),
      values: ours('open').map((open, i) => channels - open + (ours('dropped')[i] ?? 0)),
      ...{ unit: '', digits: 0, most: 0 },
    },
    {
      ...check('rate', 'opened a second'),
      values: ours('open').map((open, i) => open / (ours('seconds')[i] ?? NaN)),
      ...{ unit: '', digits: 1, least: 49 },
    },
    {
      ...check('delay', 'event-loop delay while idle, p99'),
      values: ours('delay'),
      ...{ unit: 'ms', digits: 1, most: 20 },
    },
  ];
}
