import type { Plan } from '../plan';
import type { Scenario } from '../scenario';
import { channels } from './channels';
import { history } from './history';
import { outage } from './outage';
import { push } from './push';
import { recovery } from './recovery';
import { restart } from './restart';
import { start } from './start';
import { uploadScenarios } from './uploads';

/** All scenarios, in their order. */
export const scenariosOf = (plan: Plan): Scenario[] => [
  push(plan),
  ...uploadScenarios(plan),
  channels(plan),
  restart(plan),
  recovery(plan),
  history(plan),
  outage(plan),
  start(plan),
];
