import assert from 'node:assert/strict';
import type { Runner } from '../../flow-test/run';
import { resultText } from '../../flow-test/report';
import { readTests } from '../../flow-test/tests';
import { startRunner } from './support';

/** Two listeners to one device: one that names it, and one that first has to read the list. */
const flowOf = (second: string) => ({
  file: 'flows.json',
  folder: '.',
  nodes: [
    { id: 'tab', type: 'tab' },
    ...['first', 'second'].map((id) => ({ id, type: 'device-cloud-app', service: 'simulator' })),
    {
      ...{ id: 'named', z: 'tab', x: 1, y: 1, type: 'device-cloud-listen', name: 'Named' },
      ...{ app: 'first', devices: 'list', chipids: ['10000001'], wires: [['end']] },
    },
    {
      ...{ id: 'all', z: 'tab', x: 1, y: 1, type: 'device-cloud-listen', name: 'All' },
      ...{ app: second, devices: 'online', wires: [['end']] },
    },
    { id: 'end', z: 'tab', x: 1, y: 1, type: 'debug', active: false, wires: [] },
  ],
});

const tests = readTests(
  `- name: both
  given: [{ upload: { chipid: 10000001, payload: { a: 1 } } }]
  expect: [{ message: { at: Named } }, { message: { at: All } }]`,
  'test.yaml',
);

describe('an upload of a test', () => {
  let runner: Runner;
  before(() => void (runner = startRunner()));
  after(() => runner.close());

  for (const [which, app] of [
    ['of one application', 'first'],
    ['of two applications', 'second'],
  ] as const) {
    it(`reaches all listeners ${which}`, async () => {
      const result = await runner.run(flowOf(app), tests[0]!);
      assert.deepEqual(result.failures, [], resultText(result));
    });
  }
});
