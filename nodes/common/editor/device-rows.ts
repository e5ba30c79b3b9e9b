import {
  DEVICE,
  MANY,
  MAX_MANY,
  NEW_DEVICE,
  readText,
  SECONDS,
  WHEN,
  WHEN_CHOICES,
  type DeviceConfig,
  type ManyConfig,
  type WhenConfig,
} from '../shared.config';
import {
  groupsOf,
  isFresh,
  knownDevice,
  nameIn,
  onlineDevices,
  type Device,
  type DeviceList,
} from './devices';
import type { Completion, EditorNode, PropertyDefinition, TypeDefinition } from './red';
import {
  checked,
  chipNumber,
  choice,
  current,
  field,
  fieldValue,
  flag,
  limited,
  notBlank,
  onChange,
  prepared,
  show,
  ticked,
} from './rows';
import { ageText, localTime, plain, t } from './texts';
import { textType, typed } from './typed-input';

type Applies<T> = (node: EditorNode<T>) => boolean;
type NumberProperty<T> = PropertyDefinition<T, number | string>;

const always = (): boolean => true;

/**
 * The device.
 * @param types also `group` where it may be a group of the book
 * @param needed whether the node calls one device
 */
const device = <T extends DeviceConfig>(
  types: () => TypeDefinition[],
  needed?: Applies<T>,
): PropertyDefinition<T, string> => {
  const offered = () => [...types(), 'msg'];
  const { chipid: value } = NEW_DEVICE;
  const definition = typed<T>(value, 'common.label.device', 'chipidType', offered, needed);
  return prepared({ ...definition, missing: DEVICE.chipid }, prepareDeviceRow);
};

/** The device of a node that takes one. */
export const chipid = <T extends DeviceConfig>(needed?: Applies<T>) =>
  device<T>(() => [deviceType()], needed);

/** The device of a node that takes several. */
export const chipids = <T extends DeviceConfig>(needed?: Applies<T>) =>
  device<T>(() => [deviceType(), groupType()], needed);

export const chipidType = { value: NEW_DEVICE.chipidType, missing: DEVICE.chipidType };

const isGroup = (node: EditorNode<DeviceConfig>): boolean =>
  current(node, 'chipidType') === 'group';

/** Whether the node may call several devices for one message. */
export const many: PropertyDefinition<ManyConfig, boolean> = prepared(
  { ...flag(MANY.many, 'common.label.many'), applies: (node) => !isGroup(node) },
  (node) =>
    onChange(['many', 'chipid'], () => show('#many-note', ticked(node, 'many') && !isGroup(node))),
);

/** How many of several devices are called side by side. @param applies whether the node calls devices as it is set */
export const atOnce = <T extends ManyConfig>(applies: Applies<T> = always): NumberProperty<T> =>
  limited<T>(
    MANY.atOnce,
    'common.label.at-once',
    { min: 1, max: MAX_MANY, isWhole: true },
    (node) => applies(node) && (isGroup(node) || ticked(node, 'many')),
  );

/** When a command is sent. @param applies whether the command may wait as the node is set */
export const when = <T extends WhenConfig>(
  applies: Applies<T> = always,
): PropertyDefinition<T, T['when']> =>
  choice<T, T['when']>(WHEN.when, 'common.label.when', WHEN_CHOICES.when, applies);

const isLater =
  <T extends WhenConfig>(applies: Applies<T>): Applies<T> =>
  (node) =>
    applies(node) && !['', 'now'].includes(current(node, 'when'));

/** Whether a command takes the place of one like it that waits. */
export const replace = <T extends WhenConfig>(
  applies: Applies<T> = always,
): PropertyDefinition<T, boolean> => ({
  ...flag(WHEN.replace, 'common.label.replace'),
  applies: isLater(applies),
});

/** How long a command waits. */
export const expires = <T extends WhenConfig>(applies: Applies<T> = always): NumberProperty<T> =>
  limited(WHEN.expires, 'common.label.expires', SECONDS, isLater(applies));

/** The group of a node whose devices may be a group. */
export const group = prepared(
  checked<{ devices: string }>(
    '',
    'common.label.group',
    () => undefined,
    (node) => current(node, 'devices') === 'group',
  ),
  prepareGroup,
);

/** A fixed device as a label shows it: by its name where that is known. */
export const deviceLabel = (appId: string | undefined, number: string): string =>
  nameIn(appId ?? '', number) || number;

/** A group as a label shows it. */
export const groupLabel = (name: unknown): string => readText(name) || t('common.group.book');

/** The device or the group of a node that always calls the same, as its label shows it. */
export const fixedDevice = (node: Partial<DeviceConfig>): string => {
  const chipid = readText(node.chipid) ?? '';
  if (node.chipidType === 'group') return chipid;
  return node.chipidType === 'str' && chipid ? deviceLabel(node.app, chipid) : '';
};

/** From the field, the arrow key goes past a remark to the first device. Not by jQuery: its event does not say from where. */
function passOn(row: JQuery): void {
  row[0]?.addEventListener('focus', ({ relatedTarget }) => {
    const next = row.parent().next().children()[0];
    if ($(relatedTarget as Element).is('input')) next?.focus();
  });
}

/** A row without a device. Return and Tab select the first row's value: it is what was typed. */
function remark(typed: string, text: string, detail = ''): Completion {
  const label = $('<i>', { class: 'device-cloud-remark' }).text(text);
  // Always as text: it comes from a server that may not be trusted.
  if (detail !== '') $('<small>').text(detail).appendTo(label);
  // Once it is in the list, whose rows follow.
  queueMicrotask(() => passOn(label.parent()));
  return { value: typed, label, onselect: () => undefined };
}

/** As an age: the service's own times are in its time zone, which is rarely the reader's. */
function lastSeen({ latest, seen, isOffline }: Device): string {
  if (isOffline) return t('common.picker.offline');
  if (seen !== undefined) return t('common.picker.seen', { time: ageText(seen) });
  return latest === '' ? '' : t('common.picker.seen-there', { time: latest });
}

const seenAt = ({ seen }: Device): string => (seen === undefined ? '' : localTime(seen));

function row(value: string, text: string, about: string, title = ''): Completion {
  const label = $('<div>', { class: 'device-cloud-device' });
  label.append($('<span>').text(text), $('<small>', { title }).text(about));
  return { value, label };
}

function deviceRow(device: Device): Completion {
  const { chipid, name } = device;
  const text = name === '' ? chipid : `${name} · ${chipid}`;
  return row(chipid, text, lastSeen(device), seenAt(device));
}

/** A device book may have 50,000 devices: more are found by typing. */
const MOST_ROWS = 500;

/** Several chip numbers, which only a list of devices takes apart. */
const SEVERAL = /^\s*[0-9]+([\s,;]+[0-9]+)+[\s,;]*$/;

/** The rows under the field, for what has been typed so far. */
function completions(typed: string, list: DeviceList): Completion[] {
  if (SEVERAL.test(typed)) return [remark(typed, t('common.picker.several'))];
  if ('reason' in list) return [remark(typed, list.reason, list.detail)];
  if (list.devices.length === 0) return [remark(typed, t('common.picker.none'))];
  const wanted = typed.trim().toLowerCase();
  const exact = list.devices.filter((device) => device.chipid === wanted);
  const others = list.devices.filter((device) => device.chipid !== wanted);
  // Return and Tab, which take the first row, must choose no device that nobody has asked for.
  if (wanted === '')
    return [remark('', t('common.picker.choose')), ...others.slice(0, MOST_ROWS).map(deviceRow)];
  // A full number has been chosen already: the others are shown to change over to.
  if (exact.length > 0) return [...exact, ...others].slice(0, MOST_ROWS).map(deviceRow);
  const matching = others.filter((device) =>
    `${device.chipid} ${device.name} ${device.groups ?? ''}`.toLowerCase().includes(wanted),
  );
  if (matching.length === 0) return [remark(typed, t('common.picker.unmatched'))];
  // Any number may be typed: it comes first, so that Return does not replace it by a device's.
  const first = /^[0-9]+$/.test(wanted) ? [remark(typed, t('common.picker.typed', { typed }))] : [];
  return [...first, ...matching.slice(0, MOST_ROWS).map(deviceRow)];
}

/** Notifies the fields that show names that a list has arrived. */
const LISTED = 'device-cloud-listed';

/** Calls `describe` now, and whenever more may be known of the devices. */
export function whenKnown(describe: () => void): void {
  field('app').on(`change ${LISTED}`, describe);
  describe();
}

const searchIn =
  (app: () => JQuery) =>
  (typed: string, done: (completions: Completion[]) => void): void =>
    void onlineDevices(fieldValue(app())).then((list) => {
      done(completions(typed, list));
      app().trigger(LISTED);
    });

const appField = (): JQuery => field('app');

const ARROW_DOWN = 40;

/**
 * The list also opens at a click into an empty field, since the arrow key is not obvious. And it follows what gets into
 * the field without a key: Node-RED looks at keys alone, and Return and Tab would take a row of the old list.
 */
function openAtClick(input: JQuery, completes: () => boolean): void {
  const look = (): void => {
    if (completes()) input.trigger($.Event('keyup', { keyCode: ARROW_DOWN }));
  };
  input.on('input', look);
  input.on('click', () => {
    if (fieldValue(input) === '') look();
  });
}

/** A device's number as a type of a typedInput: completes from the online devices. */
const deviceType = (): TypeDefinition => ({
  ...textType(t('common.type.device'), 'fa fa-microchip', (value) =>
    value === '' ? t('common.error.no-chipid') : chipNumber(value),
  ),
  autoComplete: searchIn(appField),
});

/** Lets a plain input complete from the online devices of the application that a field chooses. */
export function pickDevice(input: JQuery, app = appField): void {
  input.autoComplete({ search: searchIn(app), minLength: 0 });
  openAtClick(input, () => true);
}

/** What is expected in the device's field, which depends on its type. */
function placeholder(type: string): string {
  if (type === 'group') return t('common.label.group');
  return type === 'str' || type === 'msg' ? t(`common.placeholder.${type}`) : '';
}

/** Completes the device's row, whose typedInput exists: the list opens at a click, and the device's name is shown. */
function prepareDeviceRow(): void {
  const device = field('chipid');
  const input = device.nextAll('.red-ui-typedInput-container').find('.red-ui-typedInput-input');
  const type = (): string => device.typedInput('type');
  openAtClick(input, () => ['str', 'group'].includes(type()));
  const describe = (): void => {
    input.attr('placeholder', placeholder(type()));
    const note = $('#device-note');
    if (type() === 'group') {
      const group = () => (type() === 'group' ? device.typedInput('value').trim() : undefined);
      void describeGroup(note, group);
      return;
    }
    const app = fieldValue(field('app'));
    const known = type() === 'str' ? knownDevice(app, device.typedInput('value')) : undefined;
    // An age of an earlier list would be wrong by now.
    const age = known && isFresh(app) ? lastSeen(known) : '';
    const parts = [known?.name ?? '', age].filter((part) => part !== '');
    // It is the default, and shows nothing of the list.
    note
      .text(type() === 'msg' ? t('common.picker.elsewhere') : parts.join(' · '))
      .attr('title', known ? seenAt(known) : '');
  };
  device.on('change keyup typedinputtypechange', describe);
  whenKnown(describe);
}

function searchGroups(typed: string, done: (completions: Completion[]) => void): void {
  void groupsOf(fieldValue(field('app'))).then((groups = []) => {
    const wanted = typed.trim().toLowerCase();
    const found = groups.filter(({ name }) => name.toLowerCase().includes(wanted));
    done(
      found.map(({ name, count }) => row(name, plain(name), t('common.group.count', { count }))),
    );
  });
}

/** A group as a type of a typedInput: completes from the groups of the book. */
const groupType = (): TypeDefinition => ({
  value: 'group',
  label: t('common.type.group'),
  icon: 'fa fa-object-group',
  validate: (value) => notBlank(value) ?? true,
  autoComplete: searchGroups,
});

/**
 * Says how many devices the chosen group has, unless another one has been chosen meanwhile. One without devices is a warning: a flow
 * may write the book later.
 * @param chosen the name of the group, empty for none; undefined if the devices are no group any more
 */
async function describeGroup(note: JQuery, chosen: () => string | undefined): Promise<void> {
  const name = chosen();
  const groups = await groupsOf(fieldValue(field('app')));
  if (chosen() !== name) return;
  const count = groups?.find((group) => group.name === name)?.count ?? 0;
  const text = count === 0 ? t('common.group.empty') : t('common.group.count', { count });
  note.text(groups && name !== '' ? text : '').attr('title', '');
}

/** Makes the row of a group work, in a node whose devices may be a group. */
function prepareGroup(): void {
  const input = field('group');
  input.autoComplete({ search: searchGroups, minLength: 0 });
  const describe = (): void => void describeGroup($('#group-note'), () => fieldValue(input).trim());
  input.on('change keyup', describe);
  field('app').on('change', describe);
  describe();
}
