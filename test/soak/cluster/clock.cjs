// Preloaded into a Node-RED of the soak: a clock that SIGUSR2 sets an hour ahead, and the next one back.
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
process.on('SIGUSR2', () => (ahead = ahead === 0 ? 3_600_000 : 0));
