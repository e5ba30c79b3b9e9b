import type { HistoryFacts } from './facts';
import type { Settlement } from './ledger';
import type { HistoryForm } from './recorded';
import { zoneOf, zoneText } from './zone';

const RESTORED =
  'the ids of the history have begun anew, as those of a restored service: what was missed is told by ' +
  'times and bodies this time';

/**
 * Says what a reading has shown of the service, and keeps what it has shown of the time zone.
 * @param setting the zone that is set, in milliseconds ahead of UTC
 * @param tell takes the kind of a fault and its text for the log
 */
export function reportOn(
  { pair, restored, lost }: Settlement,
  form: HistoryForm,
  setting: number,
  facts: HistoryFacts,
  tell: (kind: string, text: string) => void,
): void {
  if (restored) tell('ids begun anew', RESTORED);
  if (lost) {
    const between = `between the ids ${lost.after} and ${lost.before}`;
    tell(
      'uploads lost',
      `uploads may be lost: the history has nothing any more ${between}, and not as much arrived live`,
    );
  }
  const learned = pair && zoneOf(pair.arrived, pair.recorded, form.zone);
  if (learned === undefined) return;
  facts.zone = learned;
  form.zone = learned;
  const shown = zoneText(learned);
  if (learned === setting || !facts.isNews(`zone ${shown}`)) return;
  tell(
    'wrong zone',
    `the time zone of the history is set to ${zoneText(setting)}, but uploads that came both ways show ` +
      `${shown}, which is used`,
  );
}
