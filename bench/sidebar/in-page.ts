/** Numbers of one look, in milliseconds but for the counts. */
export type Numbers = Record<string, number>;

/** Frames in which all rows are scrolled through at the latest, in one direction. */
const SCROLL_FRAMES = 260;

const LIST = '.device-cloud-fleet .device-cloud-list';

/** What the scripts below share: the list, a promise of the next painted frame, and a summary of frames. */
const SHARED = `
  const list = document.querySelector('${LIST}');
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  // A task of its own after a frame runs once that frame is painted.
  const painted = () => new Promise((resolve) => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(performance.now());
    port2.postMessage(0);
  }));
  const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.floor((values.length - 1) * part)];
  const summary = (frames) => ({
    frames: frames.length,
    median: quantile(frames, 0.5),
    p95: quantile(frames, 0.95),
    longest: Math.max(...frames),
    over50: frames.filter((each) => each > 50).length,
  });`;

/** Shows the tab, and says when its rows were painted: after the show, and after their data had come. */
export const FIRST_PAINT = `(async () => {
  ${SHARED}
  const rows = () => document.querySelector('${LIST} [role=option]') !== null;
  performance.clearResourceTimings();
  const start = performance.now();
  RED.sidebar.show('device-cloud-fleet');
  await new Promise((resolve) => {
    const observer = new MutationObserver(() => rows() && (observer.disconnect(), resolve()));
    observer.observe(list, { childList: true, subtree: true });
  });
  const filled = performance.now();
  const end = await painted();
  const [answer] = performance.getEntriesByType('resource').filter(({ name }) => name.includes('/fleet?'));
  return {
    'show to painted rows': end - start,
    'of that, until the answer had come': answer.responseEnd - start,
    'of that, from the answer to filled rows': filled - answer.responseEnd,
    'of that, from filled to painted': end - filled,
    'answer, kB': answer.decodedBodySize / 1000,
  };
})()`;

/**
 * Scrolls through all rows, a page a frame, there and back. Where the sidebar is low, as a half of one in Node-RED 5,
 * a frame scrolls further: a page of two rows would take thousands of frames.
 */
export const SCROLL = `(async () => {
  ${SHARED}
  const frames = [];
  const most = list.scrollHeight - list.clientHeight;
  const step = Math.max(list.clientHeight, most / ${SCROLL_FRAMES});
  let last = await frame();
  for (const direction of [1, -1]) {
    for (let at = 0; at <= most; at += step) {
      list.scrollTop = direction === 1 ? at : most - at;
      const now = await frame();
      frames.push(now - last);
      last = now;
    }
  }
  return summary(frames);
})()`;

/** Measures the frames of a number of seconds, in which the test may change rows. */
export const watchFrames = (seconds: number): string => `(async () => {
  ${SHARED}
  const frames = [];
  let last = await frame();
  for (const end = last + ${seconds * 1000}; last < end;) {
    const now = await frame();
    frames.push(now - last);
    last = now;
  }
  return summary(frames);
})()`;

/** Types into the filter and empties it again: how long a key takes until its result is painted. */
export const FILTER = `(async () => {
  ${SHARED}
  const input = document.querySelector('#device-cloud-fleet-text');
  const worked = [];
  const times = [];
  const word = 'sensor 49';
  const texts = [...word].map((_, index) => word.slice(0, index + 1));
  for (const text of [...texts, ...texts.toReversed(), '']) {
    await frame();
    const start = performance.now();
    input.value = text;
    input.dispatchEvent(new Event('input', { bubbles: true }));
    worked.push(performance.now() - start);
    times.push(await painted() - start);
  }
  return {
    'script, median': quantile(worked, 0.5),
    'script, longest': Math.max(...worked),
    'painted, median': quantile(times, 0.5),
    'painted, longest': Math.max(...times),
  };
})()`;
