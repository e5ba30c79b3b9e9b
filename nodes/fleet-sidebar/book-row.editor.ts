import type { BookBrief, BookChange } from '../app/answers.config';
import { fieldValue } from '../common/editor/form';
import { appPath, getRoute, putRoute } from '../common/editor/routes';
import { isObject, TYPE_TYPE } from '../common/shared.config';
import { plain, said, t } from '../common/editor/texts';
import {
  ask,
  labelled,
  mayCommand,
  notify,
  notifyFailure,
  smallButton,
  writeProblem,
  type Tab,
  type Target,
} from './commands.editor';

export const bookPath = (app: string): string => appPath(app, 'book');

/** Writes the book of an application, as a whole or some rows. */
export const writeBook = async (app: string, content: object, revision: string): Promise<void> => {
  await putRoute(bookPath(app), content, revision);
};

/** All but the file. @param chipid of a device whose row is wanted, too */
export const readBook = async (app: string, chipid = ''): Promise<BookBrief> =>
  (await getRoute(`${bookPath(app)}?brief&chipid=${encodeURIComponent(chipid)}`)) as BookBrief;

/** Someone else has changed the book meanwhile. */
export const isOutdated = (failure: unknown): boolean =>
  isObject(failure) && failure['status'] === 412;

export const reasonOf = (failure: unknown): string => {
  const { reason, detail = '' } = writeProblem(failure);
  return detail === '' ? reason : said(reason, detail);
};

const FIELDS = ['name', 'type', 'note'] as const;

type Row = NonNullable<BookChange['rows']>[number];

/** Groups as chips, with a field that completes from the groups of the book. */
class Groups {
  readonly element = $('<div>', { class: 'device-cloud-fleet-chips' });
  readonly #input = $('<input>', { type: 'text', id: 'device-cloud-fleet-groups' });
  readonly #known = $('<datalist>', { id: 'device-cloud-fleet-known' });
  #names: string[] = [];

  constructor() {
    this.#input.attr({ list: this.#known.attr('id'), placeholder: t('rows.add-group') });
    this.#input.prop('disabled', !mayCommand());
    this.element.append(this.#input, this.#known);
    this.#input.on('keydown', (event) => {
      if (event.key === 'Enter' && fieldValue(this.#input).trim() !== '') event.preventDefault();
      else if (event.key !== ',' && event.key !== '|') return;
      event.preventDefault();
      this.#take();
    });
    this.#input.on('change', () => this.#take());
  }

  offer(groups: BookBrief['groups']): void {
    this.#known.empty().append(groups.map(({ name }) => $('<option>', { value: name })));
  }

  get names(): string[] {
    this.#take();
    return [...this.#names];
  }

  set names(names: string[]) {
    this.#names = [...names];
    this.#show();
  }

  #take(): void {
    const name = fieldValue(this.#input).trim();
    if (name === '') return;
    this.#input.val('');
    if (!this.#names.includes(name)) this.names = [...this.#names, name];
  }

  #show(): void {
    this.element.children('span').remove();
    // As text, always: the book may be anyone's.
    this.#input.before(this.#names.map((name) => this.#chip(name)));
  }

  #chip(name: string): JQuery {
    const remove = (): void => {
      this.names = this.#names.filter((other) => other !== name);
      this.#input.trigger('focus');
    };
    const hint = t('rows.remove-group', { name: plain(name) });
    const button = smallButton('times', '', hint, remove, mayCommand());
    return $('<span>').text(plain(name)).append(button);
  }
}

/** The deployed types by name, to choose from; the book may name others, as labels. */
function typesList(): JQuery {
  const names = new Set<string>();
  RED.nodes.eachConfig(({ type, name }) => {
    if (type === TYPE_TYPE && name) names.add(name);
  });
  const options = [...names].sort().map((name) => $('<option>', { value: name }));
  return $('<datalist>', { id: 'device-cloud-fleet-types' }).append(options);
}

/** The row of a device in the book, to be read and changed. What is not changed is not sent. */
class RowForm {
  readonly element = $('<form>', { class: 'device-cloud-fleet-push', novalidate: true });
  readonly #tab: Tab;
  readonly #target: Target;
  readonly #inputs: Record<(typeof FIELDS)[number], JQuery>;
  readonly #groups = new Groups();
  readonly #about = $('<p>');
  readonly #problem = $('<p>', { class: 'device-cloud-fleet-problem', role: 'alert' }).hide();
  #revision = '';
  #row: Row;
  /** What the fields have shown of it: a field of one line shows no line ends. */
  #shown: Partial<Record<(typeof FIELDS)[number], string>> = {};
  /** The name that a new row is offered. */
  #offered: string;

  constructor(tab: Tab, target: Target, offered: string) {
    this.#tab = tab;
    this.#offered = offered;
    this.#target = target;
    this.#row = { chipid: target.chipid };
    const input = (name: string, tag = '<input type="text">'): JQuery =>
      $(tag).attr('id', `device-cloud-fleet-row-${name}`).prop('disabled', !mayCommand());
    const note = input('note', '<textarea>');
    const type = input('type').attr('list', 'device-cloud-fleet-types');
    this.#inputs = { name: input('name'), type, note };
    const field = (name: (typeof FIELDS)[number]): JQuery[] =>
      labelled(t(`rows.${name}`), this.#inputs[name]);
    this.element.append(
      this.#about,
      ...field('name'),
      $('<label>', { for: 'device-cloud-fleet-groups' }).text(t('rows.groups')),
      this.#groups.element,
      ...field('type'),
      typesList(),
      ...field('note'),
      this.#problem,
    );
  }

  /** Shows what the book has now; what the user has changed stays. */
  show({ revision, row, groups, problems }: BookBrief): void {
    const typed = this.#changes();
    this.#revision = revision;
    this.#row = row ?? { chipid: this.#target.chipid };
    for (const name of FIELDS) {
      const input = this.#inputs[name].val(this.#row[name] ?? '');
      this.#shown[name] = fieldValue(input).trim();
      if (typed[name] !== undefined) input.val(typed[name]);
    }
    if (!row && this.#offered !== '') this.#inputs.name.val(this.#offered);
    this.#offered = '';
    this.#groups.offer(groups);
    this.#groups.names = typed.groups ?? this.#row.groups ?? [];
    this.#about.text(t(row ? 'rows.ask' : 'rows.ask-new', { device: this.#target.name }));
    const whole = problems.find(({ line }) => line === 0);
    this.#say(whole ? plain(whole.reason) : '');
  }

  /** @returns whether it is done */
  async save(): Promise<boolean> {
    const { app, chipid, name } = this.#target;
    const changes = this.#changes();
    try {
      const change: BookChange = { rows: [{ chipid, ...changes }] };
      await writeBook(app, change, this.#revision);
      notify(t('rows.saved', { device: name }), 'success');
      this.#tab.readAgain();
      return true;
    } catch (failure) {
      if (isOutdated(failure)) this.#offerReload();
      else this.#say(t('rows.failed', { reason: reasonOf(failure) }));
      return false;
    }
  }

  #changes(): Omit<Row, 'chipid'> {
    const changes: Omit<Row, 'chipid'> = {};
    for (const name of FIELDS) {
      const value = fieldValue(this.#inputs[name]).trim();
      if (value !== (this.#shown[name] ?? '')) changes[name] = value;
    }
    const groups = this.#groups.names;
    if (JSON.stringify(groups) !== JSON.stringify(this.#row.groups ?? [])) changes.groups = groups;
    return changes;
  }

  #offerReload(): void {
    this.#say(t('rows.outdated'));
    const reload = async (): Promise<void> => {
      try {
        this.show(await readBook(this.#target.app, this.#target.chipid));
      } catch (failure) {
        this.#say(t('rows.failed', { reason: reasonOf(failure) }));
      }
    };
    const run = (): void => void reload();
    const button = smallButton('refresh', t('rows.reload'), t('rows.reload-hint'), run);
    this.#problem.append(' ', button);
  }

  #say(text: string): void {
    this.#problem.text(text).toggle(text !== '');
  }
}

/**
 * Shows what the book has about a device, and changes it.
 * @param offered the name that a new row is offered
 */
export async function editRow(tab: Tab, target: Target, offered = ''): Promise<void> {
  try {
    const book = await readBook(target.app, target.chipid);
    const form = new RowForm(tab, target, offered);
    form.show(book);
    const words = mayCommand()
      ? { no: t('push.cancel'), yes: t('rows.save') }
      : { no: t('rows.close') };
    ask(form.element, words, () => form.save());
  } catch (failure) {
    notifyFailure('rows.unread', failure);
  }
}
