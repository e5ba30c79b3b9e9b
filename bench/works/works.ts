import type { Check, Table } from '../report/results';
import type { Plan } from '../plan';
import type { Context } from './context';
import { checkChannels, measureChannels } from './channels';
import { checkGrowth, measurePushGrowth, measureUploadGrowth } from './growth';
import { checkLoading, measureLoading } from './loading';
import { checkPush, measurePush } from './push';
import { checkSigning, measureSigning } from './signing';
import { measureSize } from './size';
import { checkUploads, measureUploads } from './uploads';
import { checkUptime, measureUptime } from './uptime';

/** One thing that is measured. */
export interface Work {
  name: string;
  measure: (context: Context) => Promise<Table> | Table;
  check: (table: Table) => Check[];
}

/** All works, in their order. */
export const worksOf = (plan: Plan): Work[] => [
  { name: 'signing', measure: measureSigning, check: checkSigning },
  { name: 'push', measure: measurePush, check: checkPush },
  ...plan.uploadChannels.map((channels) => ({
    name: `uploads-${channels}`,
    measure: (context: Context) => measureUploads(context, channels),
    check: checkUploads,
  })),
  { name: 'growth-push', measure: measurePushGrowth, check: checkGrowth },
  { name: 'growth-uploads', measure: measureUploadGrowth, check: checkGrowth },
  { name: 'uptime', measure: measureUptime, check: checkUptime },
  ...(['http', 'https'] as const).map((scheme) => ({
    name: `channels-${scheme === 'http' ? 'ws' : 'wss'}`,
    measure: (context: Context) => measureChannels(context, scheme),
    check: (table: Table) => checkChannels(table, plan.channels),
  })),
  { name: 'loading', measure: measureLoading, check: checkLoading },
  { name: 'size', measure: measureSize, check: () => [] },
];
