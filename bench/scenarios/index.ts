import type { Plan } from '../plan';
import type { Scenario } from '../scenario';
import { channelScenarios } from './channels';
import { delay } from './delay';
import { fleet } from './fleet';
import { growth } from './growth';
import { historyScenarios } from './histories';
import { json } from './json';
import { many } from './many';
import { outage } from './outage';
import { push } from './push';
import { recovery } from './recovery';
import { restartScenarios } from './restart';
import { start } from './start';
import { uploadScenarios } from './uploads';

/** All scenarios, in their order. */
export const scenariosOf = (plan: Plan): Scenario[] => [
  push(plan),
  many(plan),
  json(plan),
  ...uploadScenarios(plan),
  fleet(plan),
  ...channelScenarios(plan),
  ...restartScenarios(plan),
  recovery(plan),
  ...historyScenarios(plan),
  outage(plan),
  delay(plan),
  growth(),
  start(plan),
];
