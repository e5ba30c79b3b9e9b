import { AT_ONCE, type PushMethods } from '../contenders/push-loop';
import { startChild } from '../process/child';
import { ratios, tookPart, type Check, type Table } from '../report/results';
import { CPU, cpuOf, RATE, rateOf, SERVICE, withPeer, type Context } from './context';
import { inTurn, takingPart, type Contender } from './in-turn';

const DEVICES = 1000;

const CONTENDERS: readonly (Contender & { file: string })[] = [
  {
    contender: 'limit',
    label: 'undici Pool, signed by hand',
    role: 'limit',
    file: 'contenders/push-bare',
  },
  {
    contender: 'core',
    label: 'core: function (signs) → http request',
    role: 'today',
    file: 'contenders/push-flow',
  },
  { contender: 'ours', label: 'push node', role: 'ours', file: 'contenders/push-flow' },
];

/** Pushes to a device each, many at once. */
export async function measurePush({ plan, service, http }: Context): Promise<Table> {
  const { seconds, warm, rounds } = plan;
  const rows = await inTurn(rounds, takingPart(plan, 'push', CONTENDERS), ({ contender, file }) =>
    withPeer(startChild<PushMethods>(file, { baseUrl: http, flow: contender }), async (peer) => {
      await peer.ask('run', { seconds: warm, devices: DEVICES });
      await service.ask('cpu');
      const sample = await peer.ask('run', { seconds, devices: DEVICES });
      const { cpu } = await service.ask('cpu');
      return { rate: rateOf(sample), cpu: cpuOf(sample), service: cpu / sample.operations };
    }),
  );
  const { refused } = await service.ask('pushes');
  if (refused > 0) throw new Error(`${refused} pushes were not signed as they should be.`);
  return {
    id: 'push',
    title: `Push, ${AT_ONCE} at once over ${DEVICES} devices`,
    columns: [RATE, CPU, SERVICE],
    rows,
  };
}

const GOALS = [
  { other: 'core', text: "Push: throughput by core's", digits: 1, least: 8 },
  { other: 'limit', text: "Push: throughput by the limit's", digits: 2, least: 0.8 },
] as const;

export const checkPush = (table: Table): Check[] =>
  GOALS.filter(({ other }) => tookPart(table, other)).map(({ other, ...goal }) => ({
    id: `push-${other}`,
    values: ratios(table, 'ours', other, 'rate'),
    unit: '×',
    ...goal,
  }));
