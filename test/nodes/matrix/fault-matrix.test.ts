import assert from 'node:assert/strict';
import { useNodeRed } from '../support/node-red';
import { FILES } from './rows';

describe('fault matrix', function () {
  // Each step has its own time limit; two rows have many steps.
  this.timeout(400_000);

  // Its checks end the run where one fails: a row has to leave nothing behind and to end each message once.
  useNodeRed();

  for (const { area, fault, expect, run } of Object.values(FILES).flat()) {
    it(`${area}: ${fault}`, async () => {
      assert.deepEqual(await run(), expect);
    });
  }
});
