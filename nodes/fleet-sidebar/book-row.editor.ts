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

const FIELDS = ['name', 'groups', 'type', 'note'] as const;
type Field = (typeof FIELDS)[number];

type Row = NonNullable<BookChange['rows']>[number];

/** Between two groups, as in the file. */
const SEPARATOR = '; ';

const readGroups = (text: string): string[] =>
  text
    .split(';')
    .map((name) => name.trim())
    .filter((name) => name !== '');

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
  readonly #inputs: Record<Field, JQuery>;
  /** Completes the last of the groups that are typed. */
  readonly #offers = $('<datalist>', { id: 'device-cloud-fleet-groups' });
  #known: BookBrief['groups'] = [];
  readonly #about = $('<p>');
  readonly #problem = $('<p>', { class: 'device-cloud-fleet-problem', role: 'alert' }).hide();
  #revision = '';
  #row: Row;
  /** What the fields have shown of it: a field of one line shows no line ends. */
  #shown: Partial<Record<Field, string>> = {};
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
    const groups = input('groups').attr({
      list: 'device-cloud-fleet-groups',
      placeholder: t('rows.groups-hint'),
    });
    groups.on('input', () => this.#offer());
    this.#inputs = { name: input('name'), groups, type, note };
    const fields = FIELDS.flatMap((name) => labelled(t(`rows.${name}`), this.#inputs[name]));
    this.element.append(this.#about, ...fields, typesList(), this.#offers, this.#problem);
  }

  /** Shows what the book has now; what the user has changed stays. */
  show({ revision, row, groups, problems }: BookBrief): void {
    const typed = this.#typed();
    this.#revision = revision;
    this.#row = row ?? { chipid: this.#target.chipid };
    for (const name of FIELDS) {
      const value = name === 'groups' ? this.#row.groups?.join(SEPARATOR) : this.#row[name];
      const input = this.#inputs[name].val(value ?? '');
      this.#shown[name] = fieldValue(input).trim();
      input.val(typed.get(name) ?? fieldValue(input));
    }
    if (!row && this.#offered !== '') this.#inputs.name.val(this.#offered);
    this.#offered = '';
    this.#known = groups;
    this.#offer();
    this.#about.text(t(row ? 'rows.ask' : 'rows.ask-new', { device: this.#target.name }));
    const whole = problems.find(({ line }) => line === 0);
    this.#say(whole ? plain(whole.reason) : '');
  }

  /** @returns whether it is done */
  async save(): Promise<boolean> {
    const { app, chipid, name } = this.#target;
    const { groups, ...changes } = Object.fromEntries(this.#typed());
    const row = { chipid, ...changes, ...(groups !== undefined && { groups: readGroups(groups) }) };
    try {
      const change: BookChange = { rows: [row] };
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

  /** What the user has changed. */
  #typed(): Map<Field, string> {
    const values = FIELDS.map((name) => [name, fieldValue(this.#inputs[name]).trim()] as const);
    return new Map(values.filter(([name, value]) => value !== (this.#shown[name] ?? '')));
  }

  #offer(): void {
    const before = readGroups(fieldValue(this.#inputs.groups).replace(/[^;]*$/, ''));
    const offers = this.#known
      .filter(({ name }) => !before.includes(name))
      .map(({ name }) => $('<option>', { value: [...before, name].join(SEPARATOR) }));
    this.#offers.empty().append(offers);
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
