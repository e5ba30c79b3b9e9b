import { actionRuntime } from '../common/action-runtime';
import { CHIPID_INPUT } from '../common/inputs';
import { latestOfAll } from './all';
import type { LatestConfig } from './latest.config';
import { latestOfOne } from './one';

const isAll = ({ chipid }: Partial<LatestConfig>): boolean => chipid === '';

/** Returns the latest upload of one device, or of all, that the application has received. */
export const runtime = actionRuntime<LatestConfig, 'chipid'>({
  api: 'open',
  inputs: (config) => (isAll(config) ? {} : CHIPID_INPUT),
  // Of many devices it takes several turns: a later message must not overtake an earlier one.
  sequential: isAll,
  perform: (call) => (isAll(call.config) ? latestOfAll(call) : latestOfOne(call)),
});
