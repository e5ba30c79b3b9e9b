/*
 * A thread beside the Node-RED under test, which looks even while a node is busy in a loop. It ends the process when that
 * takes too much memory, Buffers included, which no limit of the heap holds, and when its runner has gone.
 */

import { writeSync } from 'node:fs';

const MAX_MB = 1024;
const LOOK = 50;
/** The stream of a thread goes through the busy one. */
const STDERR = 2;

const runner = process.ppid;
setInterval(() => {
  const isTooLarge = process.memoryUsage.rss() > MAX_MB * 1024 ** 2;
  if (isTooLarge) writeSync(STDERR, `Node-RED takes more than ${MAX_MB} MB of memory.\n`);
  if (isTooLarge || process.ppid !== runner) process.kill(process.pid, 'SIGKILL');
}, LOOK);
