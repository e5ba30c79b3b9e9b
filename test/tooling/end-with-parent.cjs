// Preloaded into a Node-RED that a test or the demo starts: should the starter be killed, so that
// it can no longer end its child, the closed channel between the two does.
const process = require('node:process');

process.once('disconnect', () => process.exit(1));
// Windows has no signals: there this message stands for SIGTERM, which would end it without a goodbye.
process.on('message', (message) => {
  if (message === 'end') process.emit('SIGTERM');
});
