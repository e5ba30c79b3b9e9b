import { LARGEST_BOOK, type BookPreview } from '../app/answers.config';
import { putRoute } from '../common/editor/routes';
import { plain, said, t } from '../common/editor/texts';
import { bookPath, readBook, saveBook, unchanged } from './book-row.editor';
import { ask, notify, type Tab } from './commands.editor';
import { nameOf } from './row.editor';

/** Devices of each kind that are shown. */
const SHOWN = 100;

/** What is wrong with a line of the book, or with its file. As text, always: it may quote anything. */
export const problemText = ({ line, reason }: BookPreview['problems'][number]): string =>
  line === 0 ? plain(reason) : t('book.line', { line, reason: plain(reason) });

/** A number of things with a list of the first of them behind it; undefined if there are none. */
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
class ImportForm {
  readonly element = $('<form>', { class: 'device-cloud-fleet-import', novalidate: true });
  readonly #tab: Tab;
  readonly #app: string;
  readonly #name: string;
  readonly #csv: Blob;
  readonly #preview = $('<div>');
  readonly #problem = $('<p>', { class: 'device-cloud-fleet-problem', role: 'alert' }).hide();
  #revision = '';

  constructor(tab: Tab, name: string, csv: Blob) {
    this.#tab = tab;
    this.#app = tab.app;
    this.#name = plain(name);
    this.#csv = csv;
    this.element.append(
      $('<p>').text(t('book.preview.ask', { file: this.#name })),
      this.#preview,
      this.#problem,
    );
  }

  /** Reads the book and what the file would change of it. */
  async preview(): Promise<void> {
    const { revision, problems } = await readBook(this.#app);
    const whole = problems.find(({ line }) => line === 0);
    // No revision: the file must not be replaced.
    if (revision === '') throw new Error(whole?.reason);
    const path = `${bookPath(this.#app)}?preview`;
    const found = (await putRoute(path, this.#csv, revision)) as BookPreview;
    this.#revision = revision;
    const shown = lists(found);
    this.#preview.empty().append(shown.length > 0 ? shown : $('<p>').text(t('book.preview.same')));
    // The reader sees at once what would be lost.
    this.#preview.find('[data-kind=gone], [data-kind=odd]').attr('open', '');
    this.#problem.hide();
  }

  /** @returns whether it is done */
  save(): Promise<boolean> {
    return saveBook({
      tab: this.#tab,
      app: this.#app,
      content: this.#csv,
      revision: this.#revision,
      what: this.#name,
      problem: this.#problem,
      again: () => this.preview(),
    });
  }
}

async function importFile(tab: Tab, file: File): Promise<void> {
  try {
    if (file.size > LARGEST_BOOK)
      throw new Error(t('book.too-large', { most: `${LARGEST_BOOK / 2 ** 20} MiB` }));
    // As it is now: the previewed content is imported, even if the file changes meanwhile.
    const form = new ImportForm(tab, file.name, new Blob([await file.arrayBuffer()]));
    await form.preview();
    ask(form.element, { no: RED._('common.label.cancel'), yes: RED._('common.label.import') }, () =>
      form.save(),
    );
  } catch (failure) {
    notify(unchanged(failure), 'error');
  }
}

/** Lets the user choose a file to import. */
export function chooseFile(tab: Tab): void {
  const input = $('<input>', { type: 'file', accept: '.csv,text/csv' });
  input.on('change', () => {
    const [file] = (input[0] as HTMLInputElement).files ?? [];
    if (file) void importFile(tab, file);
  });
  input.trigger('click');
}
