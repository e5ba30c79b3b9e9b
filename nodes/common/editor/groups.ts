import { appOf } from './devices';
import { notBlank } from './fields';
import { field, fieldValue } from './form';
import type { Completion, TypeDefinition } from './red';
import { appPath, getRoute } from './routes';
import { plain, t } from './texts';

interface Group {
  name: string;
  count: number;
}

/** Milliseconds for which groups are not asked for again: they are at each key. */
const FRESH = 10_000;

let last: { app: string; at: number; groups: Promise<Group[] | undefined> } | undefined;

/** The groups of the application's book; undefined if they are not known. */
function groupsOf(app: string): Promise<Group[] | undefined> {
  if (last?.app !== app || Date.now() - last.at > FRESH) {
    const asked = async (): Promise<Group[]> =>
      (await getRoute(`${appPath(app, 'devices')}?groups`)) as Group[];
    // An application that is not deployed yet has no groups to offer.
    last = { app, at: Date.now(), groups: asked().catch(() => undefined) };
  }
  return last.groups;
}

function row({ name, count }: Group): Completion {
  const label = $('<div>', { class: 'device-cloud-device' });
  $('<span>').text(plain(name)).appendTo(label);
  $('<small>').text(t('common.group.count', { count })).appendTo(label);
  return { value: name, label };
}

function search(typed: string, done: (completions: Completion[]) => void): void {
  void groupsOf(appOf(fieldValue(field('app')))).then((groups = []) => {
    const wanted = typed.trim().toLowerCase();
    done(groups.filter(({ name }) => name.toLowerCase().includes(wanted)).map(row));
  });
}

/** A group as a type of a typedInput: completes from the groups of the book. */
export const groupType = (): TypeDefinition => ({
  value: 'group',
  label: t('common.type.group'),
  icon: 'fa fa-object-group',
  validate: (value) => notBlank(value) ?? true,
  autoComplete: search,
});

/**
 * Says how many devices the chosen group has, unless another one has been chosen meanwhile. One without devices is a warning: a flow
 * may write the book later.
 * @param chosen the name of the group, empty for none; undefined if the devices are no group any more
 */
export async function describeGroup(note: JQuery, chosen: () => string | undefined): Promise<void> {
  const name = chosen();
  const groups = await groupsOf(appOf(fieldValue(field('app'))));
  if (chosen() !== name) return;
  const count = groups?.find((group) => group.name === name)?.count ?? 0;
  const text = count === 0 ? t('common.group.empty') : t('common.group.count', { count });
  note.text(groups && name !== '' ? text : '').attr('title', '');
}

/** Makes the row of a group work, in a node whose devices may be a group. */
export function prepareGroup(): void {
  const input = field('group');
  input.autoComplete({ search, minLength: 0 });
  const describe = (): void => void describeGroup($('#group-note'), () => fieldValue(input).trim());
  input.on('change keyup', describe);
  field('app').on('change', describe);
  describe();
}
