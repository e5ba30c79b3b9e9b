import type { AppProblem, Diagnostics } from '../app/answers.config';
import { getRoute, putRoute } from '../common/editor/routes';
import { said, t } from '../common/editor/texts';
import { APP_TYPE } from '../common/shared.config';
import { bookPath, editRow, readBook, unchanged } from './book-row.editor';
import {
  ask,
  linkButton,
  nodeName,
  notify,
  question,
  Shown,
  smallButton,
  triedToRead,
  WRITE,
  type View,
  type Tab,
} from './commands.editor';
import type { Row } from './fleet.editor';
import { createLine, fillLine, nameOf, ROW_HEIGHTS, titleOf } from './row.editor';
import { VirtualList } from './virtual-list.editor';

/** For an issue, as a block of code: what is in it cannot end it. */
const toMarkdown = (found: Diagnostics, browser: string): string =>
  `\`\`\`json\n${JSON.stringify({ browser, ...found }, null, 2).replaceAll('`', "'")}\n\`\`\`\n`;

const copyDiagnostics = (button: JQuery): Promise<void> =>
  triedToRead(async () => {
    const body: unknown = await getRoute('diagnostics');
    const text = toMarkdown(body as Diagnostics, navigator.userAgent);
    RED.clipboard.copyText(text, button, 'clipboard.copyMessageValue');
  });

/** A button that copies what helps with an issue. */
function diagnosticsButton(): JQuery {
  const run = (button: JQuery): void => void copyDiagnostics(button);
  const button = smallButton('clipboard', t('diagnostics.copy'), t('diagnostics.hint'), run);
  return button.attr('id', 'device-cloud-diagnostics');
}

/** What is wrong and needs a person, with what to do: first what concerns an application, then the devices that its book lacks. */
export class ProblemsView implements View {
  readonly element = $('<section>', { class: 'device-cloud-fleet-view device-cloud-fleet-book' });
  /** The button that shows this view: how many problems there are. */
  readonly label = $('<span>').text(t('view.problems'));
  readonly #text = $('<span>', { role: 'status' });
  readonly #problems = $('<ol>', { class: 'device-cloud-fleet-problems' });
  readonly #absent = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #list: VirtualList<Row>;
  #rows: Row[] = [];
  readonly #shown = new Shown();
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#list = new VirtualList<Row>(ROW_HEIGHTS.low, {
      key: ({ key }) => key,
      create: () => createLine(1, this.#addButton()),
      fill: (row, device) => fillLine(row, [titleOf(device, tab.nameOf(device.app))]),
      onOpen: (device) => void this.#edit(device),
    });
    this.#list.element.setAttribute('aria-label', t('common.label.devices'));
    const head = $('<div>', { class: 'device-cloud-fleet-head' }).append(
      this.#text,
      diagnosticsButton(),
    );
    this.element.append(head, this.#problems, this.#absent, this.#list.element);
  }

  read(): void {
    const { fleet } = this.#tab;
    const problems = fleet.problems();
    this.#rows = fleet.absent();
    this.#list.show(this.#rows);
    if (!this.#shown.isNew(problems, this.#rows.length, this.#tab.apps)) return;
    const absent = this.#rows.length;
    const number = problems.length + absent;
    this.label.text(`${t('view.problems')} ${number || ''}`.trim());
    this.#text.text(number > 0 ? said(t('view.problems'), String(number)) : t('problem.none'));
    const items = problems.map(({ app, problem }) => this.#item(app, problem));
    this.#problems
      .toggle(items.length > 0)
      .empty()
      .append(items);
    $(this.#list.element).toggle(absent > 0);
    const add = t('absent.add-all', { number: absent });
    this.#absent
      .toggle(absent > 0)
      .empty()
      .append(
        $('<span>').text(t('absent.about', { number: absent })),
        smallButton('plus', add, t('absent.add-hint'), () => this.#askAll(), WRITE),
      );
  }

  #item(app: string, problem: AppProblem): JQuery {
    const text = t(`problem.${problem.kind}`, { ...problem });
    const name = this.#tab.nameOf(app);
    const item = $('<li>', { 'data-kind': problem.kind });
    return item.append(
      $('<span>').text(name === '' ? text : said(name, text)),
      ' ',
      this.#links(app, problem),
    );
  }

  /** Buttons that lead to the place where the problem is solved. */
  #links(app: string, problem: AppProblem): JQuery[] {
    const { fleet } = this.#tab;
    switch (problem.kind) {
      case 'settings':
      case 'key':
        return [linkButton(t('problem.open'), () => this.#open(app))];
      case 'book':
      case 'rows':
        return [linkButton(t('problem.show-book'), () => this.#showBook(app))];
      case 'group': {
        const name = nodeName(problem.node) ?? problem.node;
        return [linkButton(name, () => RED.view.reveal(problem.node))];
      }
      case 'history':
        return problem.chipids.map((chipid) => {
          const device = fleet.find(app, chipid);
          const show = (): void => this.#tab.showDevice(app, chipid);
          return linkButton(device ? nameOf(device) : chipid, show);
        });
      default:
        return [];
    }
  }

  #open(app: string): void {
    RED.editor.editConfig('', APP_TYPE, this.#tab.inFlows(app));
  }

  #showBook(app: string): void {
    this.#tab.choose(app);
    this.#tab.showView('book');
  }

  #addButton(): JQuery {
    const run = (button: JQuery): void => {
      const device = this.#list.itemAt(button[0] as HTMLElement);
      if (device) void this.#edit(device);
    };
    return smallButton('plus', '', t('absent.add-hint'), run, WRITE);
  }

  #edit(device: Row): Promise<void> {
    return editRow(this.#tab, device, device.name ?? '');
  }

  #askAll(): void {
    const apps = [...new Set(this.#rows.map(({ app }) => app))].map((app) => ({
      app,
      // Of the book that lacks them: a row that someone else adds meanwhile must not be changed.
      revision: this.#tab.fleet.apps.get(app)?.book ?? '',
      rows: this.#rows
        .filter((row) => row.app === app)
        .map(({ chipid, name }) => ({ chipid, ...(name === null ? {} : { name }) })),
    }));
    const number = this.#rows.length;
    const words = { no: RED._('common.label.cancel'), yes: t('absent.add-all', { number }) };
    ask(question(t('absent.ask-all', { number })), words, async () => {
      for (const each of apps) await this.#add(each.app, each.rows, each.revision);
    });
  }

  async #add(app: string, rows: { chipid: string }[], revision: string): Promise<void> {
    try {
      // One that nobody has written yet has no row that could be changed.
      const current = revision || (await readBook(app)).revision;
      await putRoute(bookPath(app), { rows }, current);
      const number = rows.length;
      const what = number === 1 ? rows[0]?.chipid : t('common.devices.several', { number });
      notify(t('book.saved', { what }), 'success');
    } catch (failure) {
      notify(unchanged(failure), 'error');
    }
    this.#tab.readAgain();
  }
}
