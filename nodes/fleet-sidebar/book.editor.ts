import { LARGEST_BOOK, type BookBrief, type BookPreview } from '../app/answers.config';
import { CREATE_BOOK } from '../app/app.config';
import type { EditorNode } from '../common/editor/red';
import { downloadRoute, putRoute } from '../common/editor/routes';
import { plain, said, t } from '../common/editor/texts';
import { APP_TYPE } from '../common/shared.config';
import { BookForm, bookPath, readBook, unchanged } from './book-row.editor';
import {
  ask,
  mayCommand,
  notify,
  readProblem,
  Shown,
  smallButton,
  triedToRead,
  WRITE,
  type View,
  type Tab,
} from './commands.editor';
import { nameOf } from './row.editor';

/** Devices of each kind that are shown. */
const SHOWN = 100;

/** What is wrong with a line of the book, or with its file. As text, always: it may quote anything. */
const problemText = ({ line, reason }: BookPreview['problems'][number]): string =>
  line === 0 ? plain(reason) : t('book.line', { line, reason: plain(reason) });

/** The number of items, and a list of the first of them; undefined if there are none. */
function list(
  kind: 'added' | 'changed' | 'gone' | 'bad' | 'odd',
  number: number,
  lines: string[],
): JQuery | undefined {
  if (number === 0) return undefined;
  const more = number - lines.length;
  return $('<details>', { 'data-kind': kind }).append(
    $('<summary>').text(t(`book.preview.${kind}`, { number })),
    $('<ol>').append(
      lines.map((line) => $('<li>').text(line)),
      more > 0 ? $('<li>').text(t('book.more', { number: more })) : '',
    ),
  );
}

function lists(preview: BookPreview): JQuery[] {
  const { added, changed, columns, gone, names, problems, badRows, warnings } = preview;
  const device = (chipid: string): string => plain(nameOf({ chipid, name: names[chipid] ?? null }));
  const devices = (chipids: string[]): string[] => chipids.slice(0, SHOWN).map(device);
  const changes = devices(changed).map((text, at) =>
    said(text, plain((columns[at] ?? []).join(', '))),
  );
  const found = [
    list('added', added.length, devices(added)),
    list('changed', changed.length, changes),
    list('gone', gone.length, devices(gone)),
    list('bad', badRows, problems.map(problemText)),
    list('odd', warnings.length, warnings.map(problemText)),
  ];
  return found.filter((each) => each !== undefined);
}

/** A file that is to replace the book, with what that would change. */
class ImportForm extends BookForm {
  readonly #csv: Blob;
  readonly #preview = $('<div>');

  constructor(panel: Tab, name: string, csv: Blob) {
    const file = plain(name);
    super('import', panel, panel.app, file);
    this.#csv = csv;
    const question = $('<p>').text(t('book.preview.ask', { file }));
    this.element.append(question, this.#preview, this.problem);
  }

  async read(): Promise<void> {
    const { revision, problems } = await readBook(this.app);
    const whole = problems.find(({ line }) => line === 0);
    // No revision: the file must not be replaced.
    if (revision === '') throw new Error(whole?.reason);
    const path = `${bookPath(this.app)}?preview`;
    const found = (await putRoute(path, this.#csv, revision)) as BookPreview;
    this.revision = revision;
    const shown = lists(found);
    this.#preview.empty().append(shown.length > 0 ? shown : $('<p>').text(t('book.preview.same')));
    // The reader sees at once what would be lost.
    this.#preview.find('[data-kind=gone], [data-kind=odd]').attr('open', '');
    this.problem.hide();
  }

  protected content(): Blob {
    return this.#csv;
  }
}

async function importFile(tab: Tab, file: File): Promise<void> {
  try {
    if (file.size > LARGEST_BOOK)
      throw new Error(t('book.too-large', { most: `${LARGEST_BOOK / 2 ** 20} MiB` }));
    // As it is now: the previewed content is imported, even if the file changes meanwhile.
    const form = new ImportForm(tab, file.name, new Blob([await file.arrayBuffer()]));
    await form.read();
    ask(form.element, { no: RED._('common.label.cancel'), yes: RED._('common.label.import') }, () =>
      form.save(),
    );
  } catch (failure) {
    notify(unchanged(failure), 'error');
  }
}

/** Lets the user choose a file to import. */
function chooseFile(tab: Tab): void {
  const input = $('<input>', { type: 'file', accept: '.csv,text/csv' });
  input.on('change', () => {
    const [file] = (input[0] as HTMLInputElement).files ?? [];
    if (file) void importFile(tab, file);
  });
  input.trigger('click');
}

/** The path of the book as the editor has it, deployed or not. */
const typedPath = (app: string): string =>
  (RED.nodes.node(app) as EditorNode<{ book?: string }> | null)?.book ?? '';

const nameIn = (path = ''): string => path.split(/[/\\]/).at(-1) || 'devices.csv';

/** The device book of an application, with its faults. */
export class BookView implements View {
  #path = '';
  /** As the buttons have it; undefined before there are any. */
  #mayChange: boolean | undefined;
  readonly element = $('<section>', {
    class: 'device-cloud-fleet-view device-cloud-fleet-book',
  });
  readonly #text = $('<span>', { role: 'status' });
  readonly #buttons = $('<div>', { class: 'device-cloud-fleet-actions' });
  readonly #problems = $('<div>', { class: 'device-cloud-fleet-problems' }).hide();
  readonly #shown = new Shown();
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    const head = $('<div>', { class: 'device-cloud-fleet-head' });
    this.element.append(head.append(this.#text, this.#buttons), this.#problems);
  }

  read(): void {
    const { app, fleet } = this.#tab;
    const state = fleet.apps.get(app);
    if (app === '') this.#showNone(t('choose-one'));
    else if (state?.book !== undefined)
      readBook(app).then(
        (book) => {
          if (app === this.#tab.app) this.#show(app, book);
        },
        (failure: unknown) => {
          const { reason, detail } = readProblem(failure);
          if (app === this.#tab.app) this.#showNone(reason, detail);
        },
      );
    else if (state) this.#offerBook(app);
  }

  #showNone(reason: string, detail = ''): void {
    this.#show('', undefined);
    this.#text.text(reason).attr('title', detail);
  }

  /** Says that there is no book, with a button that opens the application, where one is named. */
  #offerBook(app: string): void {
    // What is typed in the editor counts from the next deploy on.
    if (typedPath(app) !== '') {
      this.#showNone(t('book.undeployed'));
      return;
    }
    this.#showNone(t('book.none'));
    const create = (): void => {
      $(document).data(CREATE_BOOK, app);
      RED.editor.editConfig('', APP_TYPE, app);
    };
    const button = smallButton('plus', t('book.create'), t('book.create-hint'), create, WRITE);
    this.#text.append(' ', button);
  }

  #show(app: string, book: BookBrief | undefined): void {
    this.#buttons.toggle(book !== undefined);
    if (!this.#shown.isNew(app, book)) return;
    if (book) this.#showBook(book);
    else this.#problems.hide();
  }

  /** Made anew only if the permission changes: a button that is replaced while it is pressed does nothing. */
  #showButtons(mayChange: boolean): void {
    if (this.#mayChange === mayChange) return;
    this.#mayChange = mayChange;
    const choose = (): void => chooseFile(this.#tab);
    const download = (): Promise<void> =>
      downloadRoute(bookPath(this.#tab.app), nameIn(this.#path), 'text/csv');
    this.#buttons.empty().append(
      smallButton('upload', t('book.choose'), t('book.choose-hint'), choose, WRITE),
      smallButton('download', t('book.export'), '', () => void triedToRead(download)),
    );
  }

  #showBook({ path = '', isWritten, size, groups, problems, badRows }: BookBrief): void {
    const values = { file: plain(nameIn(path)), size, groups: groups.length };
    this.#text
      .text(t(isWritten ? 'book.about' : 'book.unwritten', values))
      .attr('title', plain(path));
    this.#path = path;
    this.#showButtons(mayCommand());
    const whole = problems.filter(({ line }) => line === 0);
    const lines = problems.filter(({ line }) => line > 0);
    const more = badRows - lines.length;
    const texts = [
      ...lines.map(problemText),
      ...(more > 0 ? [t('book.more', { number: more })] : []),
    ];
    this.#problems
      .toggle(problems.length > 0)
      .empty()
      .append(
        whole.map((problem) =>
          $('<p>', { class: 'device-cloud-fleet-wrong' }).text(problemText(problem)),
        ),
        badRows > 0 ? $('<h5>').text(t('book.preview.bad', { number: badRows })) : '',
        $('<ol>').append(texts.map((text) => $('<li>').text(text))),
      );
  }
}
