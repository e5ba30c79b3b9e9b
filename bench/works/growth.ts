import type { ChannelMethods } from '../contenders/channel-methods';
import type { PushMethods } from '../contenders/push-loop';
import { startChild } from '../process/child';
import { addRound, newRow, valuesOf, type Check, type Row, type Table } from '../report/results';
import { least } from '../report/statistics';
import { CPU, cpuOf, RATE, rateOf, withPeer, type Context } from './context';
import { flood } from './uploads';

type Values = Record<string, number>;

/** The same round for every number of devices, in one process after the other. */
async function rowsByDevices(
  { plan }: Context,
  round: (measured: (devices: number, values: Values) => void) => Promise<void>,
): Promise<Row[]> {
  const rows = new Map(
    plan.devices.map((devices) => [devices, newRow(String(devices), `${devices} devices`, 'ours')]),
  );
  for (let count = 0; count < plan.deviceRounds; count++) {
    process.stderr.write(`  round ${count + 1} of ${plan.deviceRounds}\n`);
    await round((devices, values) => addRound(rows.get(devices), values));
  }
  return [...rows.values()];
}

/** What a push costs, by the number of devices. */
export async function measurePushGrowth(context: Context): Promise<Table> {
  const { plan, http } = context;
  const settings = { baseUrl: http, flow: 'ours' };
  const rows = await rowsByDevices(context, (measured) =>
    withPeer(startChild<PushMethods>('contenders/push-flow', settings), async (peer) => {
      for (const devices of plan.devices) {
        await peer.ask('run', { seconds: plan.warm, devices });
        const sample = await peer.ask('run', { seconds: plan.seconds, devices });
        measured(devices, { cpu: cpuOf(sample), rate: rateOf(sample) });
      }
    }),
  );
  return {
    id: 'growth-push',
    title: 'Push, by the number of devices',
    columns: [CPU, RATE],
    rows,
    notes: ['Fewer devices than pushes at once take them one at a time, which shows in the rate.'],
  };
}

/** What an upload costs, by the number of devices. */
export async function measureUploadGrowth(context: Context): Promise<Table> {
  const { plan, http } = context;
  const settings = { baseUrl: http, flow: 'ours' };
  const rows = await rowsByDevices(context, (measured) =>
    withPeer(startChild<ChannelMethods>('contenders/channels-flow', settings), async (peer) => {
      for (const devices of plan.devices) {
        await peer.ask('open', devices);
        const { cpu = NaN, rate = NaN } = await flood(context, peer, devices, 1);
        measured(devices, { cpu, rate });
      }
    }),
  );
  return {
    id: 'growth-uploads',
    title: 'Uploads received, by the number of devices',
    columns: [CPU, RATE],
    rows,
  };
}

/** The most devices held against the cheapest of fewer: with very few, waking up is what costs. */
export function checkGrowth(table: Table): Check[] {
  const costs = table.rows.map(({ contender }) => valuesOf(table, contender, 'cpu'));
  const cheapest = (round: number): number =>
    least(costs.slice(0, -1).map((values) => values[round] ?? NaN));
  return [
    {
      id: table.id,
      text: `${table.title}: CPU with ${table.rows.at(-1)?.label ?? ''} by the cheapest of fewer`,
      values: (costs.at(-1) ?? []).map((cost, round) => cost / cheapest(round)),
      ...{ unit: '×', digits: 2, most: 1.25 },
    },
  ];
}
