const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

/** Mocha's spec reporter, which also leaves its counts in a file for the closing line. */
module.exports = class CountingReporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      const { passes, failures, pending } = runner.stats;
      writeFileSync(options.reporterOptions.counts, JSON.stringify({ passes, failures, pending }));
    });
  }
};
