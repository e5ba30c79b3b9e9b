import assert from 'node:assert/strict';
import { useNodeRed } from '../support/node-red';
import { ANSWERS } from './answers';
import { CALLERS } from './callers';
import { CHANNEL_FRAMES } from './channel-frames';
import { CHANNEL_LIFE } from './channel-life';
import { CHANNEL_RESTART } from './channel-restart';
import { CHANNEL_UPGRADE } from './channel-upgrade';
import { CLOCK } from './clock';
import { CONTENT } from './content';
import { DURING } from './during';
import { EDITOR } from './editor';
import { FLEET } from './fleet';
import { HELD } from './held';
import { HISTORY } from './history';
import { MANY } from './many';
import { MESSAGES } from './messages';
import { NODE_RED } from './node-red';
import { writeOutcomes, type Line } from './outcomes';
import { REDEPLOYS } from './redeploys';
import { REQUEST } from './request';
import type { Outcome, Row } from './row';
import { TRANSPORT } from './transport';

const ROWS: readonly Row[] = [
  ...ANSWERS,
  ...TRANSPORT,
  ...CHANNEL_UPGRADE,
  ...CHANNEL_LIFE,
  ...CHANNEL_RESTART,
  ...CHANNEL_FRAMES,
  ...CONTENT,
  ...HISTORY,
  ...FLEET,
  ...REQUEST,
  ...HELD,
  ...MANY,
  ...CLOCK,
  ...MESSAGES,
  ...NODE_RED,
  ...DURING,
  ...REDEPLOYS,
  ...CALLERS,
  ...EDITOR,
];

/** What came of each fault, for the table in docs/reliability.md. */
const outcomes: Line[] = [];

describe('fault matrix', function () {
  // Each step has its own time limit; two rows have many steps.
  this.timeout(400_000);

  let observed: Outcome | undefined;
  let current: Row | undefined;

  useNodeRed();

  // After the checks of useNodeRed, which end the run where one fails: only a row that left nothing
  // behind and ended each message once gets here.
  afterEach(function () {
    if (this.currentTest?.state !== 'passed' || !current || observed === undefined) return;
    outcomes.push({ area: current.area, fault: current.fault, ...observed });
  });

  for (const row of ROWS) {
    it(`${row.area}: ${row.fault}`, async () => {
      current = row;
      observed = undefined;
      const outcome = await row.run();
      assert.deepEqual(outcome, row.expect);
      observed = outcome;
    });
  }

  after(() => writeOutcomes('nodes', ROWS.length, outcomes));
});
