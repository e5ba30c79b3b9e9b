import { installNodeRed5 } from './node-red.mjs';
import { fail } from './setup.mjs';

/** The installation as a process of its own, so that other steps of the tests can run beside it. */
try {
  installNodeRed5();
} catch (error) {
  fail(error);
}
