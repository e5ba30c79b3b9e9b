import type { BookBrief, FleetRow } from '../app/answers.config';
import { CREATE_BOOK } from '../app/app.config';
import type { EditorNode } from '../common/editor/red';
import { plain, t } from '../common/editor/texts';
import { APP_TYPE } from '../common/shared.config';
import { chooseFile, problemText } from './book-import.editor';
import { bookPath, editRow, isOutdated, readBook, reasonOf, writeBook } from './book-row.editor';
import {
  ask,
  download,
  linkButton,
  mayCommand,
  notify,
  question,
  readProblem,
  smallButton,
  type Tab,
  type View,
} from './commands.editor';
import { createLine, fillLine, nameOf, ROW_HEIGHTS } from './row.editor';
import { VirtualList } from './virtual-list.editor';

/** The book has rows for those that have groups, even if none. */
const isAbsent = ({ online, groups }: FleetRow): boolean => online === true && groups === undefined;

/** The path of the book as the editor has it, deployed or not. */
const typedPath = (app: string): string =>
  (RED.nodes.node(app) as EditorNode<{ book?: string }> | null)?.book ?? '';

const nameIn = (path = ''): string => path.split(/[/\\]/).at(-1) || 'devices.csv';

/** The device book of an application: its faults, and the devices it lacks. */
export class BookView implements View {
  readonly element = $('<section>', {
    class: 'device-cloud-fleet-view device-cloud-fleet-book',
  });
  readonly #head = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #text = $('<span>', { role: 'status' });
  readonly #buttons = $('<div>', { class: 'device-cloud-fleet-actions' });
  readonly #problems = $('<div>', { class: 'device-cloud-fleet-problems' }).hide();
  readonly #absent = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #chosen = $('<div>', { class: 'device-cloud-fleet-bar' }).hide();
  readonly #list: VirtualList<FleetRow>;
  #book: BookBrief | undefined;
  #rows: FleetRow[] = [];
  #selected: string | undefined;
  #shown = '';
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#list = new VirtualList<FleetRow>(ROW_HEIGHTS.low, {
      key: ({ chipid }) => chipid,
      create: () => createLine(1),
      fill: (row, device) => fillLine(row, [nameOf(device)]),
      onSelect: (chipid) => {
        this.#selected = chipid;
        this.#showChosen();
      },
      onOpen: () => void this.#chosen.find('button:enabled').first().trigger('focus'),
    });
    this.#list.element.setAttribute('aria-label', t('book.absent-label'));
    this.#chosen.on('keydown', (event) => {
      if (event.key === 'Escape') this.#list.element.focus();
    });
    this.#head.append(this.#text, this.#buttons);
    this.element.append(this.#head, this.#problems, this.#absent, this.#list.element, this.#chosen);
  }

  read(): void {
    const { app, fleet } = this.#tab;
    if (fleet.hasBook === false) this.#offerBook(app);
    else if (fleet.hasBook)
      readBook(app).then(
        (book) => {
          if (app === this.#tab.app) this.#show(app, book);
        },
        (failure: unknown) => {
          const { reason, detail } = readProblem(failure, t('book.forbidden'));
          if (app === this.#tab.app) this.#showNone(reason, detail);
        },
      );
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
    const button = smallButton(
      'plus',
      t('book.create'),
      t('book.create-hint'),
      create,
      mayCommand(),
    );
    this.#text.append(' ', button);
  }

  #show(app: string, book: BookBrief | undefined): void {
    this.#book = book;
    this.#rows = book ? this.#tab.fleet.rows().filter(isAbsent) : [];
    this.#list.show(this.#rows);
    if (!this.#rows.some(({ chipid }) => chipid === this.#selected)) this.#list.select(undefined);
    this.#buttons.toggle(book !== undefined);
    this.#absent.toggle(book !== undefined);
    $(this.#list.element).toggle(this.#rows.length > 0);
    // What has the focus keeps it, unless it changes.
    const shown = JSON.stringify([app, book, this.#rows.length]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    if (book) this.#showBook(book);
    else this.#problems.hide();
  }

  #showBook({ path = '', isWritten, size, groups, problems, badRows }: BookBrief): void {
    const values = { file: plain(nameIn(path)), size, groups: groups.length };
    this.#text
      .text(t(isWritten ? 'book.about' : 'book.unwritten', values))
      .attr('title', plain(path));
    const choose = (): void => chooseFile(this.#tab);
    const save = (): void =>
      void download(bookPath(this.#tab.app), nameIn(this.#book?.path), 'text/csv');
    this.#buttons
      .empty()
      .append(
        smallButton('upload', t('book.choose'), t('book.choose-hint'), choose, mayCommand()),
        smallButton('download', t('book.export'), t('book.export-hint'), save),
      );
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
        badRows > 0 ? $('<h5>').text(t('book.bad', { number: badRows })) : '',
        $('<ol>').append(texts.map((text) => $('<li>').text(text))),
      );
    const number = this.#rows.length;
    const about = t(number > 0 ? 'book.absent' : 'book.absent-none', { number });
    const [add, hint] = [t('book.add-all', { number }), t('book.add-hint')];
    const button = smallButton('plus', add, hint, () => this.#askAll(), mayCommand());
    this.#absent.empty().append($('<span>').text(about), number > 0 ? button : '');
    this.#showChosen();
  }

  #showChosen(): void {
    const device = this.#rows.find(({ chipid }) => chipid === this.#selected);
    this.#chosen.toggle(device !== undefined).empty();
    if (!device) return;
    const { chipid, name } = device;
    const add = (): void =>
      void editRow(this.#tab, { app: this.#tab.app, chipid, name: nameOf(device) }, name ?? '');
    this.#chosen.append(
      $('<div>', { class: 'device-cloud-fleet-actions' }).append(
        smallButton('plus', t('book.add'), t('book.add-hint'), add, mayCommand()),
        linkButton(nameOf(device), () => this.#tab.showDevice(chipid)),
      ),
    );
  }

  #askAll(): void {
    const rows = this.#rows.map(({ chipid, name }) => ({
      chipid,
      ...(name === null ? {} : { name }),
    }));
    // Of the book that lacks them: a row that someone else adds meanwhile must not be changed.
    const revision = this.#book?.revision ?? '';
    const number = rows.length;
    const words = { no: t('push.cancel'), yes: t('book.add-all', { number }) };
    ask(question(t('book.ask-all', { number })), words, () => void this.#add(rows, revision));
  }

  async #add(rows: { chipid: string; name?: string }[], revision: string): Promise<void> {
    const { app } = this.#tab;
    try {
      await writeBook(app, { rows }, revision);
      notify(t('book.added', { number: rows.length }), 'success');
    } catch (failure) {
      const reason = isOutdated(failure) ? t('book.changing') : reasonOf(failure);
      notify(t('rows.failed', { reason }), 'error');
    }
    this.#tab.readAgain();
  }
}
