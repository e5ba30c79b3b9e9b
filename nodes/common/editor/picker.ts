import { ageText, localTime, t } from './texts';
import { isFresh, knownDevice, onlineDevices, type Device, type DeviceList } from './devices';
import { field, fieldValue } from './form';
import { describeGroup } from './groups';
import type { Completion, TypeDefinition } from './red';
import { deviceNumber, textType } from './fields';

/** A row without a device. Return and Tab select the first row's value: it is what was typed. */
function remark(typed: string, text: string, detail = ''): Completion {
  const label = $('<i>', { class: 'device-cloud-remark' }).text(text);
  // Always as text: it comes from a server that may not be trusted.
  if (detail !== '') $('<small>').text(detail).appendTo(label);
  return { value: typed, label, onselect: () => undefined };
}

/** As an age: the service's own times are in its time zone, which is rarely the reader's. */
function lastSeen({ latest, seen, isOffline }: Device): string {
  if (isOffline) return t('common.picker.offline');
  if (seen !== undefined) return t('common.picker.seen', { time: ageText(seen) });
  return latest === '' ? '' : t('common.picker.seen-there', { time: latest });
}

const seenAt = ({ seen }: Device): string => (seen === undefined ? '' : localTime(seen));

function row(device: Device): Completion {
  const label = $('<div>', { class: 'device-cloud-device' });
  $('<span>')
    .text(device.name === '' ? device.chipid : `${device.name} · ${device.chipid}`)
    .appendTo(label);
  $('<small>', { title: seenAt(device) })
    .text(lastSeen(device))
    .appendTo(label);
  return { value: device.chipid, label };
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
    return [remark('', t('common.picker.choose')), ...others.slice(0, MOST_ROWS).map(row)];
  // A full number has been chosen already: the others are shown to change over to.
  if (exact.length > 0) return [...exact, ...others].slice(0, MOST_ROWS).map(row);
  const matching = others.filter((device) =>
    `${device.chipid} ${device.name} ${device.groups ?? ''}`.toLowerCase().includes(wanted),
  );
  if (matching.length === 0) return [remark(typed, t('common.picker.unmatched'))];
  // Any number may be typed: it comes first, so that Return does not replace it by a device's.
  const first = /^[0-9]+$/.test(wanted) ? [remark(typed, t('common.picker.typed', { typed }))] : [];
  return [...first, ...matching.slice(0, MOST_ROWS).map(row)];
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
export function deviceType(): TypeDefinition {
  const type = textType(t('common.type.device'), 'fa fa-microchip', deviceNumber);
  return { ...type, autoComplete: searchIn(appField) };
}

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
export function prepareDeviceRow(): void {
  const shown = field('chipid').nextAll('.red-ui-typedInput-container');
  const input = shown.find('.red-ui-typedInput-input');
  openAtClick(input, () => ['str', 'group'].includes(field('chipid').typedInput('type')));
  const describe = (): void => {
    const type = field('chipid').typedInput('type');
    input.attr('placeholder', placeholder(type));
    const chipid = field('chipid').typedInput('value');
    const note = $('#device-note');
    if (type === 'group') {
      const isGroup = (): boolean => field('chipid').typedInput('type') === 'group';
      const chosen = (): string | undefined =>
        isGroup() ? field('chipid').typedInput('value').trim() : undefined;
      void describeGroup(note, chosen);
      return;
    }
    const app = fieldValue(field('app'));
    const device = type === 'str' ? knownDevice(app, chipid) : undefined;
    // An age of an earlier list would be wrong by now.
    const age = device && isFresh(app) ? lastSeen(device) : '';
    const parts = [device?.name ?? '', age].filter((part) => part !== '');
    // It is the default, and shows nothing of the list.
    note
      .text(type === 'msg' ? t('common.picker.elsewhere') : parts.join(' · '))
      .attr('title', device ? seenAt(device) : '');
  };
  field('chipid').on('change keyup typedinputtypechange', describe);
  whenKnown(describe);
}
