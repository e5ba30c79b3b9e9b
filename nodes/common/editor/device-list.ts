import { isVariable, readList, readText } from '../shared.config';
import { said, t } from './texts';
import { deviceLabel, pickDevice, whenKnown } from './device-rows';
import { nameIn } from './devices';
import { type Check, chipNumber, current, field, fieldValue, onChange, show } from './rows';
import type { EditorNode, PropertyDefinition } from './red';

interface DeviceListConfig {
  app: string;
  devices: string;
  chipids: string[];
}

interface Item {
  chipid: string;
}

const list = (): JQuery => $('#device-cloud-chipids');

/** A device is a chip number, or `${NAME}`: Node-RED replaces it inside the list, too. */
const deviceError: Check = (value) => (isVariable(value) ? undefined : chipNumber(value));

function chipidsError(value: unknown, isNeeded: boolean): string | undefined {
  const chipids = readList(value ?? []);
  if (!chipids) return t('common.error.value');
  if (!isNeeded) return undefined;
  if (chipids.length === 0) return t('common.error.no-device');
  return chipids.map((chipid) => deviceError(String(chipid))).find((error) => error !== undefined);
}

/** The property `chipids`, which counts if `devices` is `list`. */
export const chipidsProperty = <T extends DeviceListConfig>(): PropertyDefinition<T, string[]> & {
  value: string[];
} => ({
  value: [],
  label: t('common.label.devices'),
  validate(value, options) {
    const error = chipidsError(value, current(this, 'devices') === 'list');
    return error === undefined || said(options.label ?? '', error);
  },
  prepare: ({ chipids }) => prepareList(chipids),
});

/** Marks an invalid chip number as Node-RED marks its own fields. */
function judge(input: JQuery): void {
  const value = fieldValue(input).trim();
  const error = value === '' ? undefined : deviceError(value);
  input.toggleClass('input-error', error !== undefined).attr('title', error ?? '');
}

function addRow(row: JQuery, _index: number, item: Partial<Item>, changed: () => void): void {
  row.addClass('device-cloud-row');
  const input = $('<input>', { type: 'text', class: 'device-cloud-chipid' });
  input.attr({ placeholder: t('common.placeholder.str'), 'aria-label': t('common.label.device') });
  input.val(item.chipid ?? '').appendTo(row);
  const name = $('<small>').appendTo(row);
  const describe = (): void => {
    judge(input);
    name.text(nameIn(fieldValue(field('app')), fieldValue(input).trim()) ?? '');
  };
  pickDevice(input);
  input.on('paste', (event) => {
    const pasted = (event.originalEvent as ClipboardEvent).clipboardData?.getData('text') ?? '';
    const [first, ...others] = pasted.split(/[\s,;，；、]+/).filter((part) => part !== '');
    if (first === undefined || others.length === 0) return;
    event.preventDefault();
    // Its own row takes the first one, unless something stands there already.
    const isEmpty = fieldValue(input).trim() === '';
    if (isEmpty) input.val(first).trigger('change');
    for (const chipid of isEmpty ? others : [first, ...others])
      list().editableList('addItem', { chipid });
  });
  input.on('change keyup paste', () => {
    describe();
    changed();
  });
  whenKnown(describe);
  // A row that was asked for with the button is typed into next.
  if (item.chipid === undefined) setTimeout(() => input.trigger('focus'));
}

/**
 * Makes the editable list of chip numbers, with an empty row if there are none. Each change of it is one of the field
 * `devices`, since Node-RED knows no field of the list itself.
 */
function prepareList(saved: unknown): void {
  const changed = (): void => void field('devices').trigger('change');
  onChange(['devices'], () => show('#list-row', fieldValue(field('devices')) === 'list'));
  list().editableList<Partial<Item>>({
    addButton: t('common.list.add'),
    addItem: (row, index, item) => addRow(row, index, item, changed),
    removeItem: changed,
    removable: true,
    sortable: true,
    height: 'auto',
  });
  const chipids = readList(saved) ?? [];
  for (const chipid of chipids.length > 0 ? chipids : [''])
    list().editableList('addItem', { chipid: readText(chipid) ?? '' });
}

/** The devices of a list as a label shows them: one by its name where that is known, several by their number. */
export function listLabel({ app, chipids: saved }: EditorNode<DeviceListConfig>): string {
  const chipids = (readList(saved) ?? []).map(String);
  if (chipids.length > 1) return t('common.devices.several', { number: chipids.length });
  return chipids[0] === undefined ? '' : deviceLabel(app, chipids[0]);
}

/** The chip numbers in the list, without empty rows and without repetition. */
export function listed(): string[] {
  // A removed row fades out before it is gone.
  const rows = list().children(':not(.red-ui-editableList-item-deleting)');
  const inputs = rows.find('.device-cloud-chipid').toArray();
  // As at run time: a number is the same device with and without zeros in front.
  const chipids = inputs.map((input) =>
    fieldValue($(input))
      .trim()
      .replace(/^0+(?=\d+$)/, ''),
  );
  return [...new Set(chipids.filter((chipid) => chipid !== ''))];
}
