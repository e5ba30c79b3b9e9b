import type { BookBrief, BookChange } from '../app/answers.config';
import { fieldValue } from '../common/editor/rows';
import { appPath, getRoute, putRoute } from '../common/editor/routes';
import { isObject, TYPE_TYPE } from '../common/shared.config';
import { plain, said, t } from '../common/editor/texts';
import {
  ask,
  labelled,
  mayCommand,
  notify,
  smallButton,
  triedToRead,
  writeProblem,
  type Tab,
} from './commands.editor';
import type { Row } from './fleet.editor';
import { nameOf } from './row.editor';

export const bookPath = (app: string): string => appPath(app, 'book');

/** All but the file. @param chipid of a device whose row is wanted, too */
export const readBook = async (app: string, chipid = ''): Promise<BookBrief> =>
  (await getRoute(`${bookPath(app)}?brief&chipid=${encodeURIComponent(chipid)}`)) as BookBrief;

/** Why the book was not changed. As text, always: the reason may quote anything. */
export function unchanged(failure: unknown): string {
  // Someone else has changed it meanwhile.
  if (isObject(failure) && failure['status'] === 412) return t('book.outdated');
  const { reason, detail } =
    failure instanceof Error ? { reason: failure.message } : writeProblem(failure);
  return said(t('failed.change'), plain(detail ? said(reason, detail) : reason));
}

/** A form with a change of an application's book. */
export abstract class BookForm {
  readonly element: JQuery;
  /** Where it says why it was not saved. */
  protected readonly problem = $('<p>', { class: 'device-cloud-fleet-problem', role: 'alert' });
  /** Of the book that is changed. */
  protected revision = '';
  readonly #panel: Tab;

  /** @param what is changed, for the reader */
  constructor(
    name: string,
    panel: Tab,
    protected readonly app: string,
    protected readonly what: string,
  ) {
    this.#panel = panel;
    this.element = $('<form>', { class: `device-cloud-fleet-${name}`, novalidate: true });
    this.problem.hide();
  }

  /** Reads the book, and shows what is changed of it. */
  abstract read(): Promise<void>;

  /** What the book is to have: as a whole, or some rows. */
  protected abstract content(): object;

  /** @returns whether it is done */
  async save(): Promise<boolean> {
    const fail = (failure: unknown): JQuery => this.problem.text(unchanged(failure)).show();
    try {
      await putRoute(bookPath(this.app), this.content(), this.revision);
      notify(t('book.saved', { what: this.what }), 'success');
      this.#panel.readAgain();
      return true;
    } catch (failure) {
      const run = (): void => void this.read().catch(fail);
      const button = smallButton('refresh', t('book.again'), t('book.again-hint'), run);
      fail(failure).append(' ', button);
      return false;
    }
  }
}

const FIELDS = ['name', 'groups', 'type', 'note'] as const;
type Field = (typeof FIELDS)[number];

type BookRow = NonNullable<BookChange['rows']>[number];

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
class RowForm extends BookForm {
  readonly #chipid: string;
  readonly #inputs: Record<Field, JQuery>;
  /** Completes the last of the groups that are typed. */
  readonly #offers = $('<datalist>', { id: 'device-cloud-fleet-groups' });
  #known: BookBrief['groups'] = [];
  readonly #about = $('<p>');
  #row: BookRow;
  /** What the fields have shown of it: a field of one line shows no line ends. */
  #shown: Partial<Record<Field, string>> = {};
  /** The name that a new row is offered. */
  #offered: string;

  constructor(panel: Tab, device: Row, offered: string) {
    const { app, chipid } = device;
    super('push', panel, app, nameOf(device));
    this.#offered = offered;
    this.#chipid = chipid;
    this.#row = { chipid };
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
    const fields = FIELDS.flatMap((name) => labelled(t(`field.${name}`), this.#inputs[name]));
    this.element.append(this.#about, ...fields, typesList(), this.#offers, this.problem);
  }

  /** What the user has changed stays. */
  async read(): Promise<void> {
    const { revision, row, groups, problems } = await readBook(this.app, this.#chipid);
    const typed = this.#typed();
    this.revision = revision;
    this.#row = row ?? { chipid: this.#chipid };
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
    this.#about.text(t(row ? 'rows.ask' : 'rows.ask-new', { device: this.what }));
    const whole = problems.find(({ line }) => line === 0);
    this.problem.text(plain(whole?.reason ?? '')).toggle(whole !== undefined);
  }

  protected content(): BookChange {
    const { groups, ...changes } = Object.fromEntries(this.#typed());
    const row = { chipid: this.#chipid, ...changes };
    return { rows: [groups === undefined ? row : { ...row, groups: readGroups(groups) }] };
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
}

/**
 * Shows what the book has about a device, and changes it.
 * @param offered the name that a new row is offered
 */
export const editRow = (tab: Tab, device: Row, offered = ''): Promise<void> =>
  triedToRead(async () => {
    const form = new RowForm(tab, device, offered);
    await form.read();
    const words = mayCommand()
      ? { no: RED._('common.label.cancel'), yes: RED._('common.label.save') }
      : { no: RED._('common.label.close') };
    ask(form.element, words, () => form.save());
  });
