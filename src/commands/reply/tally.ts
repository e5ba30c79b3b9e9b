import { DeviceCloudError } from '../../errors';
import { oneLine } from '../../util/show';

const MAX_ERROR = 200;

/** Counts what came while a request waited, so that its error can say why nothing was the reply. */
export class Tally {
  /** Uploads that were judged. */
  judged = 0;
  /** Those of them that are not of the datatype. */
  undecodable = 0;
  /** Those on which the condition failed, and how it did the last time. */
  failed = 0;
  failure = '';
  /** Recovered uploads that may be older than the request. */
  older = 0;
  /** Uploads for which there was no room while others were judged. */
  dropped = 0;

  /** What came, as a sentence. */
  text(wanted: string, datatype: string): string {
    if (this.judged + this.older + this.dropped === 0) {
      return 'No upload came: check that the device answers with an upload, and how long it takes.';
    }
    const parts = [`Of ${count(this.judged)} none ${wanted || 'is a reply'}`];
    if (this.undecodable > 0) parts.push(`${this.undecodable} could not be decoded as ${datatype}`);
    if (this.failed > 0) {
      parts.push(`on ${this.failed} the condition failed (${oneLine(this.failure, MAX_ERROR)})`);
    }
    if (this.older > 0) {
      parts.push(`${count(this.older)} that may be older than the request did not count`);
    }
    if (this.dropped > 0) {
      parts.push(`${count(this.dropped)} came faster than they could be judged`);
    }
    return `${parts.join('; ')}. Compare the reply, as a listener shows it, with what the request waits for.`;
  }
}

const count = (uploads: number): string => (uploads === 1 ? '1 upload' : `${uploads} uploads`);

/** The error for a request whose push was accepted, and whose reply did not come. */
export const noReply = (name: string, why: string): DeviceCloudError =>
  new DeviceCloudError('NO_REPLY', `${name} was accepted, but ${why}`);
