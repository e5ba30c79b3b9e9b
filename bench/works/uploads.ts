import { setTimeout as sleep } from 'node:timers/promises';
import type { ChannelMethods } from '../contenders/channel-methods';
import { startChild, type Peer } from '../process/child';
import { ratios, tookPart, type Check, type Table } from '../report/results';
import { channelsOpen, CPU, cpuOf, RATE, rateOf, SERVICE, withPeer, type Context } from './context';
import { inTurn, takingPart, type Contender } from './in-turn';

const FLOW = 'contenders/channels-flow';

const CONTENDERS: readonly (Contender & { file: string })[] = [
  {
    contender: 'limit',
    label: 'bare ws, JSON.parse, Base64',
    role: 'limit',
    file: 'contenders/channels-bare',
  },
  {
    contender: 'floor',
    label: "the same, and a bare node's send",
    role: 'floor',
    file: FLOW,
  },
  {
    contender: 'core',
    label: 'core: websocket in → json → function',
    role: 'today',
    file: FLOW,
  },
  { contender: 'ours', label: 'listen node', role: 'ours', file: FLOW },
  {
    contender: 'ours-without-recovery',
    label: 'listen node, recover: off',
    role: 'ours',
    file: FLOW,
  },
];

/** Blocks of uploads on their way on a channel at most. */
const windowOf = (channels: number): number => (channels > 100 ? 1 : 4);

/** After the channels are open: histories are read, statuses shown. */
const SETTLE = 500;

/** Uploads as fast as they are taken, after running warm. */
export async function flood(
  { plan, service }: Context,
  peer: Peer<ChannelMethods>,
  channels: number,
  window = windowOf(channels),
): Promise<Record<string, number>> {
  const connects = await channelsOpen(service, channels);
  if (connects.open !== channels) throw new Error(`${connects.open} of ${channels} channels open.`);
  await sleep(SETTLE);
  const run = async (seconds: number): Promise<Record<string, number>> => {
    await peer.ask('begin');
    const sent = await service.ask('flood', { seconds, window });
    const sample = await peer.ask('end', sent.operations);
    return { rate: rateOf(sent), cpu: cpuOf(sample), service: cpuOf(sent) };
  };
  await run(plan.warm);
  return run(plan.seconds);
}

/** Uploads received on so many channels. */
export async function measureUploads(context: Context, channels: number): Promise<Table> {
  const { plan } = context;
  const contenders = takingPart(plan, 'uploads', CONTENDERS);
  const rows = await inTurn(plan.rounds, contenders, ({ contender, file }) =>
    withPeer(
      startChild<ChannelMethods>(file, { baseUrl: context.http, flow: contender }),
      async (peer) => {
        await peer.ask('open', channels);
        return flood(context, peer, channels);
      },
    ),
  );
  return {
    id: `uploads-${channels}`,
    title: `Uploads received on ${channels === 1 ? 'one channel' : `${channels} channels`}`,
    columns: [CPU, RATE, SERVICE],
    rows,
  };
}

const GOALS = [
  { other: 'core', text: "CPU by core's", most: 0.1 },
  { other: 'floor', text: "CPU by that of bare ws with a bare node's send", most: 2 },
] as const;

export function checkUploads(table: Table): Check[] {
  return GOALS.filter(({ other }) => tookPart(table, other)).map(({ other, text, most }) => ({
    id: `${table.id}-${other}`,
    text: `${table.title}: ${text}`,
    values: ratios(table, 'ours', other, 'cpu'),
    ...{ unit: '×', digits: 2, most },
  }));
}
