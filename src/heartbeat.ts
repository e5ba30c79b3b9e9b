/**
 * Calls back on a timer whose first phase is random, so that many channels opened together do not
 * send their heartbeats together (section 6: every 5 minutes is suggested).
 * @param seconds the period; 0 turns it off
 * @returns stops it
 */
export function startHeartbeat(
  beat: () => void,
  seconds: number,
  random: () => number,
): () => void {
  if (seconds <= 0) return () => undefined;
  const period = seconds * 1000;
  let timer = setTimeout(() => {
    beat();
    timer = setInterval(beat, period);
  }, period * random());
  return () => clearTimeout(timer);
}
