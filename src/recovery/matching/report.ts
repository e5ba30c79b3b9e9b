import type { HistoryFacts } from '../records/facts';
import type { Lost } from '../position/lost';
import type { HistoryForm } from '../records/recorded';
import type { Behind, Settlement } from './settlement';
import { zoneOf, zoneText } from '../records/zone';

/** Called with the kind of a fault and its text for the log. */
export type ReportFault = (kind: string, text: string) => void;

const RESTORED =
  'the ids of the history have started over, as after a restore; missed uploads are now identified ' +
  'by time and body';

const behindText = ({ newest, position, unknown }: Behind): string =>
  `the newest id of the history, ${newest}, is below ${position}, which was read before: the history ` +
  'lags behind, or was restored from an older copy' +
  (unknown === 0
    ? ''
    : `; uploads may be lost, since ${unknown} of its records cannot be distinguished from older ones`);

const lostText = ({ after, before }: Lost): string =>
  `uploads may be lost: the history no longer has anything between the ids ${after} and ${before}, ` +
  'and fewer uploads than that arrived live';

/**
 * Reports what a reading has shown about the service, and remembers the time zone that it has shown.
 * @param setting the zone that is set, in milliseconds ahead of UTC
 */
export function reportOn(
  { pair, restored, behind, lost }: Settlement,
  form: HistoryForm,
  setting: number,
  facts: HistoryFacts,
  report: ReportFault,
): void {
  if (restored) report('ids started over', RESTORED);
  if (behind) report('history behind', behindText(behind));
  if (lost) report('uploads lost', lostText(lost));
  const learned = pair && zoneOf(pair.arrived, pair.recorded, form.zone);
  if (learned === undefined) return;
  facts.zone = learned;
  form.zone = learned;
  const shown = zoneText(learned);
  if (learned === setting || !facts.isNews(`zone ${shown}`)) return;
  report(
    'wrong zone',
    `the time zone of the history is set to ${zoneText(setting)}, but uploads that came both ways show ` +
      `${shown}, which is used`,
  );
}
