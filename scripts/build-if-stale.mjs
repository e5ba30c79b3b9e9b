import { buildIfStale, fail } from './setup.mjs';

/** The build as a process of its own, so that other steps of the tests can run beside it. */
try {
  buildIfStale();
} catch (error) {
  fail(error);
}
