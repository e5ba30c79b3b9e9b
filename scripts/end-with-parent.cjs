// Preloaded into a Node-RED that a test or the demo starts: should the starter be killed, so that
// it can no longer end its child, the closed channel between the two does.
const process = require('node:process');

process.once('disconnect', () => process.exit(1));
