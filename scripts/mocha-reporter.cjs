const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

/** Mocha's spec reporter, which also leaves its counts, and what failed, in a file for the closing lines. */
module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failed = [];
    runner.on(Runner.constants.EVENT_TEST_FAIL, (test, { message }) =>
      failed.push(`${test.fullTitle()}: ${String(message).slice(0, 1000)}`),
    );
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats;
      const counts = { passes, failures, pending, failed };
      writeFileSync(options.reporterOptions.counts, JSON.stringify(counts));
      // A test that failed may have left open what keeps the process from ending.
      if (failures > 0) setTimeout(() => process.exit(1), 10_000).unref();
    });
  }
};
