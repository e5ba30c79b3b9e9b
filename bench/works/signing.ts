import type { SigningMethods } from '../contenders/signing';
import { startChild } from '../process/child';
import { ratios, type Check, type Table } from '../report/results';
import { CPU, cpuOf, withPeer, type Context } from './context';
import { inTurn, type Contender } from './in-turn';

const CONTENDERS: readonly Contender[] = [
  { contender: 'open-hash', label: 'one md5 of the same bytes, open API', role: 'limit' },
  { contender: 'open', label: 'signature of the open API', role: 'ours' },
  { contender: 'server-hash', label: 'one md5 of the same bytes, server API', role: 'limit' },
  { contender: 'server', label: 'signature of the server API', role: 'ours' },
];

/** Signing a short request. */
export async function measureSigning({ plan }: Context): Promise<Table> {
  const rows = await inTurn(plan.rounds, CONTENDERS, ({ contender }) =>
    withPeer(
      startChild<SigningMethods>('contenders/signing', { what: contender }),
      async (peer) => {
        await peer.ask('run', plan.seconds / 2);
        return { cpu: cpuOf(await peer.ask('run', plan.seconds)) };
      },
    ),
  );
  return {
    id: 'signing',
    title: 'Signing a short request',
    columns: [{ ...CPU, digits: 2 }],
    rows,
  };
}

export const checkSigning = (table: Table): Check[] =>
  (['open', 'server'] as const).map((api) => ({
    id: `signing-${api}`,
    text: `Signing for the ${api} API: CPU by that of one md5 of the same bytes`,
    values: ratios(table, api, `${api}-hash`, 'cpu'),
    ...{ unit: '×', digits: 2, most: 2 },
  }));
