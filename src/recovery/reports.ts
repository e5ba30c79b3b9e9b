import { show } from '../util/show';
import type { HistoryRecord, RecordId } from './answer';
import type { Arrival } from './arrival';
import type { KnownWriting } from './writing';

/** What the log says of the history of one device: a text, and what is the same for all texts of its kind. */
type Report = readonly [text: string, kind: string];

/** With line ends that can be seen: many a history lacks them. */
const shown = (text = '…'): string => show(text.replaceAll('\r', '␍').replaceAll('\n', '␊'));

/** The kind of the fault that a history does not contain what arrived live: missed uploads are not recovered. */
export const UNPROVEN_KIND = 'history not understood';
/** The kind of the report that it does again. */
export const PROVEN_KIND = 'history understood';

/** @param fault of a record, as a text */
export const unusable = (fault: string): Report => [
  `a record of the history could not be used, since ${fault}; the others were`,
  fault,
];

/** Rules 15 and 16: live uploads no longer wait. */
export const LATE: Report = [
  'the history could not be read in time: missed uploads will come late',
  'late',
];

/** Rule 16. */
export const GIVEN_UP: Report = [
  'the history could not be reached for too long; older missed uploads are lost',
  'given up',
];

/** Rule 20. */
export const STARTED_OVER: Report = [
  'the ids of the history have started over, as after a restore: records with a later time than the last known ones are recovered',
  'ids started over',
];

/** Rule 20. */
export const behind = (newest: RecordId, position: RecordId): Report => [
  `the newest id of the history, ${newest}, is below ${position}, which was read before: the history lags behind, or was ` +
    'restored from an older copy',
  'history behind',
];

/** Rule 10. */
export const lost = (position: RecordId, first: RecordId): Report => [
  `uploads may be lost: the history no longer has anything between the ids ${position} and ${first}, and fewer uploads ` +
    'than that arrived live',
  'uploads lost',
];

/** Rule 17. */
export const writes = (
  writing: KnownWriting,
  { text }: Arrival,
  { body = '' }: HistoryRecord,
): Report => {
  const what =
    writing === 'base64'
      ? 'the history writes uploads in Base64'
      : 'the history alters uploads, so that what is recovered may lack something';
  return [
    `${what}: an upload was ${shown(text)}, and its record is ${shown(body)}`,
    `writing ${writing}`,
  ];
};

/** Rule 8. */
export const unproven = (arrival?: Arrival, record?: HistoryRecord): Report => [
  'missed uploads are not recovered for now, since the history does not contain what arrived live, in any form that ' +
    `is known: an upload was ${shown(arrival?.text)}, and the newest record is ${shown(record?.body ?? '')}`,
  UNPROVEN_KIND,
];

export const PROVEN: Report = [
  'the history contains what arrived live again: missed uploads are recovered',
  PROVEN_KIND,
];

/** Rule 7. */
export const missing = ({ text }: Arrival): Report => [
  `the history does not contain an upload that arrived live: ${shown(text)}`,
  'not in the history',
];

/** Rule 7. */
export const spoiltBy = ({ text }: Arrival, { body = '' }: HistoryRecord): Report => [
  `a record of the history was taken for an upload that arrived live, and was not emitted: the upload was ${shown(text)}, and the record is ${shown(body)}`,
  'not given back',
];
