// Preloaded into a Node-RED of the soak: a clock that SIGWINCH sets an hour ahead, and the next one back.
// Node-RED ends at SIGUSR2 and most of the others.
const process = require('node:process');

const Real = globalThis.Date;
let ahead = 0;
globalThis.Date = class extends Real {
  constructor(...args) {
    if (args.length === 0) super(Real.now() + ahead);
    else super(...args);
  }

  static now() {
    return Real.now() + ahead;
  }
};
process.on('SIGWINCH', () => (ahead = ahead === 0 ? 3_600_000 : 0));
