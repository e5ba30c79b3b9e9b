import { watchDelay } from './meter';

/* A process that does nothing but measure the delay of its event loop, until it is asked for it. */

const measured = watchDelay();
process.once('message', () => {
  process.send?.(measured());
  process.disconnect();
});
process.send?.('started');
