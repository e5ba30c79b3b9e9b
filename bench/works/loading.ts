import type { LoadingMethods } from '../contenders/loading';
import { startChild } from '../process/child';
import { ratios, type Check, type Table } from '../report/results';
import { withPeer, type Context } from './context';
import { inTurn, type Contender } from './in-turn';

const CONTENDERS: readonly Contender[] = [
  { contender: 'without', label: 'Node-RED alone', role: 'today' },
  { contender: 'with', label: 'Node-RED with the package', role: 'ours' },
];

/** Node-RED from its start until its flows run. */
export async function measureLoading({ plan }: Context): Promise<Table> {
  const rows = await inTurn(plan.rounds, CONTENDERS, ({ contender }) =>
    withPeer(
      startChild<LoadingMethods>('contenders/loading', { withPackage: contender === 'with' }),
      async (peer) => {
        const { seconds, cpu } = await peer.ask('start');
        return { time: seconds * 1000, cpu: cpu / 1000 };
      },
    ),
  );
  return {
    id: 'loading',
    title: 'Starting Node-RED',
    columns: [
      { key: 'time', label: 'time', unit: 'ms', digits: 0 },
      { key: 'cpu', label: 'CPU', unit: 'ms', digits: 0 },
    ],
    rows,
  };
}

export const checkLoading = (table: Table): Check[] => [
  {
    id: 'loading',
    text: 'Starting Node-RED: CPU with the package by that without',
    values: ratios(table, 'with', 'without', 'cpu'),
    ...{ unit: '×', digits: 2 },
  },
];
