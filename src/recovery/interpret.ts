import type { RecoveryDevice, RecoveryShared } from './deps';
import { badRecord, chooseEncoding } from './matching/encoding';
import type { Ledger } from './matching/ledger';
import { readAnswer } from './records/read-answer';
import type { HistoryForm, HistoryRecord } from './records/recorded';
import type { ReportFault } from './matching/report';
import type { Since } from './position/since';
import { fromUnix } from './records/zone';

/** More than zones and clocks differ by, in milliseconds. */
const DAY = 24 * 60 * 60 * 1000;

/** An answer of the history, as far as it can be understood. */
export interface Interpretation {
  /** By id, oldest first, each id once. */
  records: HistoryRecord[];
  since: Since<HistoryRecord>;
  form: HistoryForm;
  /** Whether the encoding is known, or makes no difference to which uploads were missed. */
  isClear: boolean;
  /** Whether records were left out. */
  hasBad: boolean;
}

/** Reads what can be used of an answer, and reports the rest. */
export function interpret(
  answer: readonly unknown[],
  ledger: Ledger,
  { appid, facts, now }: RecoveryShared,
  { chipid, encoding, zone }: RecoveryDevice,
  report: ReportFault,
): Interpretation {
  const ahead = facts.zone ?? zone;
  const time = now();
  const form: HistoryForm = {
    ...{ appid, chipid, encoding: 'text', certain: false },
    ...{ zone: ahead, now: time, latest: fromUnix(time + DAY, ahead) },
  };
  const { records, faults } = readAnswer(answer, form);
  for (const fault of faults) report(`bad record: ${fault}`, badRecord(fault));
  const since = ledger.since(records);
  const isClear = chooseEncoding(records, since, form, {
    ...{ setting: encoding, facts, ledger, report },
  });
  return { records, since, form, isClear, hasBad: faults.size > 0 };
}
