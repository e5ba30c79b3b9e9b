import type { HistoryForm } from '../../../src/history/form';
import type { UploadRecord } from '../../../src/types';

/** What the service's document leaves open about a history, and where its ids stand. */
export interface HistoryOptions {
  /** How many uploads it keeps, default all. */
  window?: number;
  encoding?: HistoryForm;
  order?: 'oldest-first' | 'newest-first' | 'mixed';
  /** The id of the first upload, default 1. */
  firstId?: bigint;
  /** From one id of the device to the next, default 1: ids are given across an application. */
  step?: bigint;
  /** Invalid records among the others. */
  bad?: boolean;
}

/** A permutation that keeps nothing in its place for long. */
const mixed = <T>(items: readonly T[]): T[] =>
  [0, 1, 2].flatMap((part) => items.filter((_, index) => (index * 7) % 3 === part));

const BAD: readonly unknown[] = [
  ...[null, 'text', [], {}, { id: null, body: 'a' }, { id: 1.5, body: 'a' }],
  ...[
    { id: -1, body: 'a' },
    { id: '9'.repeat(40), body: 'a' },
    { id: 'x', body: 'a' },
  ],
];

/** What a history in this form keeps of a text: rows 12 and 16 of what is known of the public server. */
export function keptOf(body: string, form: HistoryForm): string {
  if (form === 'text' || form === 'base64') return body;
  const bare = body.trim();
  const [, ...rest] = bare.split(',');
  return form === 'trimmed' || rest.length === 0 ? bare : rest.join('');
}

/** The history of one device, as the open API answers it. */
export function createHistory(accepted: readonly string[], options: HistoryOptions) {
  const { window = Infinity, encoding = 'text', order = 'oldest-first' } = options;
  const { firstId = 1n, step = 1n } = options;
  /** How many uploads it shows so far; of those, not the hidden ones. */
  let shown = Infinity;
  let least = 0;
  const hidden = new Set<number>();
  /** Bodies of uploads that it omitted although it contained a later one. */
  const overtaken = new Set<string>();
  const isShown = (index: number): boolean => index < shown && !hidden.has(index);
  const idOf = (index: number): bigint => firstId + step * BigInt(index);

  /** Base64 carries any bytes, so that there they need not be UTF-8. */
  const bytesOf = (body: string): Buffer =>
    Buffer.from(body, encoding === 'base64' ? 'latin1' : 'utf8');

  const record = (body: string, index: number): UploadRecord => {
    const id = idOf(index);
    return {
      // As `parseJson` gives it.
      id: id <= Number.MAX_SAFE_INTEGER ? Number(id) : String(id),
      body:
        encoding === 'base64'
          ? bytesOf(body).toString('base64')
          : keptOf(bytesOf(body).toString('utf8'), encoding),
      dev: '1',
      app: '',
      create_time: '',
    };
  };
  return {
    overtaken,
    /** Shows all but the newest, and nothing less than before. */
    lag(uploads: number): void {
      hidden.clear();
      shown = uploads === 0 ? Infinity : Math.max(least, accepted.length - uploads);
      least = Math.min(shown, accepted.length);
    },
    hide(index: number): void {
      hidden.add(index);
    },
    bytesOf,
    textOf: (bytes: Buffer): string => bytes.toString(encoding === 'base64' ? 'latin1' : 'utf8'),
    /** Of a record whose encoding nothing had shown yet, and which was read in the wrong one. */
    misreadOf(bytes: Buffer): string | undefined {
      const written = encoding === 'base64' ? bytes.toString() : bytes.toString('base64');
      return accepted.find(
        (body) => bytesOf(body).toString(encoding === 'base64' ? 'base64' : 'utf8') === written,
      );
    },
    read(): unknown[] {
      const newest = accepted.findLastIndex((_, index) => isShown(index));
      for (const index of hidden) if (index < newest) overtaken.add(accepted[index] ?? '');
      const records: unknown[] = accepted
        .map(record)
        .filter((_, index) => isShown(index))
        .slice(-window);
      // Each twice, and between them what is no record.
      if (options.bad) records.splice(0, Infinity, ...records.flatMap((one) => [one, one]), ...BAD);
      if (order === 'mixed') return mixed(records);
      return order === 'newest-first' ? records.reverse() : records;
    },
  };
}

export type History = ReturnType<typeof createHistory>;
