import type { Fault } from './row';

/** The fault that needs a Node-RED started anew: its test is in test/e2e/credential-secret.test.ts. */
export const WRONG_SECRET: Fault = {
  area: 'Node-RED',
  fault: 'credentials under a wrong secret',
  expect: { said: '`NOT_CONFIGURED`', then: 'works once the keys are given again' },
};
