import { show } from '../util/show';

import { apart, type HistoryRecord, type RecordId } from './answer';
import type { Arrival } from './arrival';
import type { KnownWriting } from './writing';

/** With line ends that can be seen: many a history lacks them. */
const shown = (text = '…'): string => show(text.replaceAll('\r', '␍').replaceAll('\n', '␊'));

/** The kind of the fault that a history does not contain what arrived live: missed uploads are not recovered. */
export const UNPROVEN_KIND = 'history not understood';
/** The kind of the report that it does again. */
export const PROVEN_KIND = 'history understood';

/** What the log says of the history of one device. */
export class Reports {
  /** Rule 8: the last answers had none of the arrivals that must be in them. */
  isUnproven = false;
  #isBehind = false;
  readonly #log: (text: string, kind: string) => void;

  /** @param log is called with a text, and with what is the same for all texts of its kind */
  constructor(log: (text: string, kind: string) => void) {
    this.#log = log;
  }

  /** @param fault of a record, as a text */
  unusable(fault: string): void {
    this.#log(`a record of the history could not be used, since ${fault}; the others were`, fault);
  }

  /** Rules 15 and 16: live uploads no longer wait. */
  late(): void {
    this.#log('the history could not be read in time: missed uploads will come late', 'late');
  }

  /** Rule 16. */
  givenUp(): void {
    this.#log(
      'the history could not be reached for too long; older missed uploads are lost',
      'given up',
    );
  }

  /** Rule 20. */
  startedOver(): void {
    this.#log(
      'the ids of the history have started over, as after a restore: records with a later time than the last known ones are recovered',
      'ids started over',
    );
  }

  /** Rule 20: said once, until it has caught up. */
  behind(newest: RecordId, position: RecordId, isEmpty: boolean): void {
    const wasBehind = this.#isBehind;
    this.#isBehind = newest < position && !isEmpty;
    if (this.#isBehind && !wasBehind)
      this.#log(
        `the newest id of the history, ${newest}, is below ${position}, which was read before: the history lags behind, or was ` +
          'restored from an older copy',
        'history behind',
      );
  }

  /**
   * Rule 10. Ids may be counted across an application: then not every missing number is an upload of this device.
   * @param arrived how many arrived live after the position
   */
  lost(position: RecordId, first: RecordId, arrived: number): void {
    if (apart(position, first) - 1 <= arrived) return;
    this.#log(
      `uploads may be lost: the history no longer has anything between the ids ${position} and ${first}, and fewer uploads ` +
        'than that arrived live',
      'uploads lost',
    );
  }

  /** Rule 17. */
  writing(writing: KnownWriting, { text }: Arrival, { body = '' }: HistoryRecord): void {
    const example = `an upload was ${shown(text)}, and its record is ${shown(body)}`;
    const what =
      writing === 'base64'
        ? 'the history writes uploads in Base64'
        : 'the history alters uploads, so that what is recovered may lack something';
    this.#log(`${what}: ${example}`, `writing ${writing}`);
  }

  /** Rule 8: said once, until it is proven again. */
  unproven(arrival: Arrival | undefined, record: HistoryRecord | undefined): void {
    if (this.isUnproven) return;
    this.isUnproven = true;
    this.#log(
      'missed uploads are not recovered for now, since the history does not contain what arrived live, in any form that ' +
        `is known: an upload was ${shown(arrival?.text)}, and the newest record is ${shown(record?.body ?? '')}`,
      UNPROVEN_KIND,
    );
  }

  proven(): void {
    if (!this.isUnproven) return;
    this.isUnproven = false;
    this.#log(
      'the history contains what arrived live again: missed uploads are recovered',
      PROVEN_KIND,
    );
  }

  /** Rule 7. */
  missing({ text }: Arrival): void {
    this.#log(
      `the history does not contain an upload that arrived live: ${shown(text)}`,
      'not in the history',
    );
  }

  /** Rule 7. */
  spoilt({ text }: Arrival, { body = '' }: HistoryRecord): void {
    this.#log(
      `a record of the history was taken for an upload that arrived live, and was not emitted: the upload was ${shown(text)}, and the record is ${shown(body)}`,
      'not given back',
    );
  }
}
