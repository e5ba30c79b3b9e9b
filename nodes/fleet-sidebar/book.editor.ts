import type { BookBrief } from '../app/answers.config';
import { CREATE_BOOK } from '../app/app.config';
import type { EditorNode } from '../common/editor/red';
import { plain, t } from '../common/editor/texts';
import { APP_TYPE } from '../common/shared.config';
import { chooseFile, problemText } from './book-import.editor';
import { bookPath, readBook } from './book-row.editor';
import {
  download,
  mayCommand,
  readProblem,
  smallButton,
  WRITE,
  type Tab,
  type View,
} from './commands.editor';

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
  #shown = '';
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
    // What has the focus keeps it, unless it changes.
    const shown = JSON.stringify([app, book]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    if (book) this.#showBook(book);
    else this.#problems.hide();
  }

  /** Made anew only if the permission changes: a button that is replaced while it is pressed does nothing. */
  #showButtons(mayChange: boolean): void {
    if (this.#mayChange === mayChange) return;
    this.#mayChange = mayChange;
    const choose = (): void => chooseFile(this.#tab);
    const save = (): void => void download(bookPath(this.#tab.app), nameIn(this.#path), 'text/csv');
    this.#buttons
      .empty()
      .append(
        smallButton('upload', t('book.choose'), t('book.choose-hint'), choose, WRITE),
        smallButton('download', t('book.export'), '', save),
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
