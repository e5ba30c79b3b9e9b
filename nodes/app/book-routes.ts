import { basename } from 'node:path';
import type { NodeAPI } from 'node-red';
import {
  type Book,
  type DeviceCloudError,
  invalidInput,
  isDeviceCloudError,
  notConfigured,
} from '../../src/index';
import { auditedRoute, forFlowReaders, readingRoute, statusOf } from '../common/admin';
import { toProblem } from '../common/errors';
import type { Handler } from '../common/register';
import { isObject, isVariable } from '../common/shared.config';
import { LARGEST_BOOK, type BookAnswer, type BookBrief, type BookPreview } from './answers.config';
import { findAppNode, findDeployed, type AppNode } from './deployed';

type Request = Parameters<Handler>[0];

const noBook = (): DeviceCloudError =>
  notConfigured(
    'The application has no device book: name a CSV file in its configuration, and deploy.',
  );

/** Lends the book of an application. @throws DeviceCloudError `NOT_CONFIGURED` without one */
const withBook = <T>(node: AppNode | undefined, use: (book: Book) => Promise<T>): Promise<T> => {
  if (!node) throw noBook();
  return node.app.borrow('open', ({ fleet: { book } }) => {
    if (!book) throw noBook();
    return use(book);
  });
};

/** The book is another one by now: 412. */
const failure = (error: unknown): number =>
  (isDeviceCloudError(error) && error.statusCode) || statusOf(error);

/** As it was saved; undefined for `${NAME}`, whose value not every user may see. */
function pathOf(RED: NodeAPI, id: string): string | undefined {
  const path = findDeployed(RED, id)?.saved.book;
  return path === '' || isVariable(path) ? undefined : path;
}

type BookState = Omit<BookAnswer, 'revision' | 'csv'>;

const stateOf = (book: Book, path: string | undefined): BookState => ({
  isWritten: book.isWritten,
  problems: [...book.problems],
  badRows: book.file.badRows,
  groups: book.groups(),
  ...(path === undefined ? {} : { path }),
});

const isFaulty = ({ problems }: Pick<BookState, 'problems'>): boolean =>
  problems.some(({ line }) => line === 0);

async function toAnswer(book: Book, path: string | undefined): Promise<BookAnswer> {
  const state = stateOf(book, path);
  try {
    const { bytes, revision } = await book.content();
    return { revision, csv: bytes.toString('utf8'), ...state };
  } catch (error) {
    // What is no text is not shown, and nothing may replace it: no revision is its own.
    const problem = { line: 0, reason: toProblem(error).message };
    const problems = isFaulty(state) ? state.problems : [problem, ...state.problems];
    return { ...state, revision: '', csv: '', problems };
  }
}

/**
 * All but the file, with the row of one device. The revision is of the rows in use, to which the row belongs;
 * the file is read only if it is another one, which has no row to show.
 */
async function toBrief(book: Book, path: string | undefined, chipid: string): Promise<BookBrief> {
  let state: Omit<BookAnswer, 'csv'> = { revision: book.revision, ...stateOf(book, path) };
  if (isFaulty(state) || book.revision === '') {
    const { csv: _, ...read } = await toAnswer(book, path);
    state = read;
  }
  const row = book.row(chipid);
  return { ...state, size: book.file.devices.size, ...(row ? { row } : {}) };
}

/** Shows the device book, as JSON, or as CSV to be kept in a file; with `?brief` and perhaps a `chipid`, in short. */
export const bookRoute = (RED: NodeAPI): Handler => {
  const handle = readingRoute(async (request, response) => {
    const id = String(request.params['id']);
    const saved = pathOf(RED, id);
    await withBook(findAppNode(RED, id), async (book) => {
      if (request.accepts(['json', 'csv']) === 'csv') {
        response.attachment(basename(saved ?? 'devices.csv')).type('text/csv');
        response.send(await book.export());
      } else if ('brief' in request.query) {
        const { chipid } = request.query;
        response.json(await toBrief(book, saved, typeof chipid === 'string' ? chipid : ''));
      } else response.json(await toAnswer(book, saved));
    });
  }, failure);
  return forFlowReaders(RED, handle);
};

/** Reads the body of a request as it is. What is too long is read to its end, so that the sender gets the answer. */
async function readBody(request: Request): Promise<Buffer> {
  let pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of request as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length <= LARGEST_BOOK) pieces.push(piece);
    else pieces = [];
  }
  if (length <= LARGEST_BOOK) return Buffer.concat(pieces);
  throw invalidInput(`The CSV has ${length} bytes: a device book has at most ${LARGEST_BOOK}.`);
}

/** `"REVISION"`, as of an entity tag, or without its quotation marks. */
const REVISION = /^"?([\w-]{1,64})"?$/;

interface Write {
  id: string;
  node: AppNode | undefined;
  revision: string;
  isPreview: boolean;
  /** A whole file, or the rows to change. */
  content: { csv: Buffer } | { edit: Record<string, unknown> };
}

async function readWrite(RED: NodeAPI, body: unknown, request: Request): Promise<Write> {
  const id = String(request.params['id']);
  const [, revision = ''] = REVISION.exec(request.get('If-Match') ?? '') ?? [];
  if (revision === '')
    throw invalidInput(
      'Send the revision of the device book that you read in the header If-Match.',
    );
  const node = findAppNode(RED, id);
  if (!node) throw noBook();
  const write = { id, node, revision, isPreview: 'preview' in request.query };
  if (isObject(body)) return { ...write, content: { edit: body } };
  if (!request.is('text/csv'))
    throw invalidInput('Send the device book as text/csv, or the rows to change as JSON.');
  return { ...write, content: { csv: await readBody(request) } };
}

/** Writes the device book: a CSV as a whole, or some of its rows. The answer is in brief; with `?preview` it says what would change. */
export const writeBookRoute = (RED: NodeAPI): Handler =>
  auditedRoute<Write>(RED, {
    event: 'apps.book',
    read: (body, _params, request) => readWrite(RED, body, request),
    audited: ({ id, isPreview }) => (isPreview ? { id, preview: true } : { id }),
    answer: ({ id, node, revision, isPreview, content }) =>
      withBook(node, async (book): Promise<BookBrief | BookPreview> => {
        if (isPreview) return book.preview(content, revision);
        await book.write(content, revision);
        return toBrief(book, pathOf(RED, id), '');
      }),
    failure,
  });
