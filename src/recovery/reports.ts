import type { HistoryForm } from '../history/form';
import type { RecordId } from '../history/record';
import { zoneText } from '../history/zone';
import { show } from '../util/show';
import type { Lost } from './ids';

/* What recoveries report to the log. */

export const LONG =
  'the history is long, and only its newest records were read: a missed upload with an older time than 200 others, such as ' +
  'one that the device kept for long or made with a wrong clock, would not be recovered. This is reported once';

export const WAITING =
  'recovery is waiting: the histories of other devices use all of the memory reserved for reading';

/** The kind of the fault that a history does not contain what arrived live: missed uploads are not recovered. */
export const UNPROVEN_KIND = 'history not understood';
/** The kind of the report that it does again. */
export const PROVEN_KIND = 'history understood';
export const PROVEN = 'the history contains what arrived live again: missed uploads are recovered';

/** @param arrived an upload that must be in the history @param record the newest body of the history */
export const unproven = (arrived: string, record: string): string =>
  'missed uploads are not recovered for now, since the history does not contain what arrived live, in any form that ' +
  `is known: an upload was ${show(arrived)}, and the newest record is ${show(record)}`;

export const notGivenBack = (count: number): string =>
  `${count} ${count === 1 ? 'record' : 'records'} of the history cannot be told apart from uploads that arrived live, ` +
  'and were not emitted';

export const badRecord = (what: string): string =>
  `a record of the history could not be used, since ${what}; the others were`;

export const NOT_BASE64 =
  'a body of the history is not Base64, and was taken as text: if the service writes text, set the history encoding ' +
  'of the application to auto';

export const wrongForm = (setting: HistoryForm, shown: HistoryForm): string =>
  `the history encoding of the application is set to ${setting}, but uploads that came both ways show that the history ` +
  `is written as ${shown}: set it to ${shown} or auto. Until then it is read as ${shown} all the same`;

/** @param setting milliseconds ahead of UTC, as is `shown` */
export const wrongZone = (setting: number, shown: number): string =>
  `the time zone of the history is set to ${zoneText(setting)}, but uploads that came both ways show ${zoneText(shown)}: ` +
  'set it to auto, unless the clocks of the devices are wrong';

export const RESTORED =
  'the ids of the history have started over, as after a restore; missed uploads are now identified by time and body';

/** @param unknown how many records may or may not be new */
export const behind = (newest: RecordId, position: RecordId, unknown: number): string =>
  `the newest id of the history, ${newest}, is below ${position}, which was read before: the history lags behind, or ` +
  'was restored from an older copy' +
  (unknown === 0
    ? ''
    : `; uploads may be lost, since ${unknown} of its records cannot be distinguished from older ones`);

export const lost = ({ after, before }: Lost): string =>
  `uploads may be lost: the history no longer has anything between the ids ${after} and ${before}, and fewer uploads ` +
  'than that arrived live';
