import { t } from './catalogue';
import { onlineDevices, type Device, type DeviceList } from './devices';
import { field, fieldValue } from './form';
import type { Completion, TypeDefinition } from './red';
import { textType } from './typed';
import { chipNumber } from './validators';

/** A row that only says something. Return and Tab take the first row's value: it is what was typed. */
function remark(typed: string, text: string): Completion {
  return {
    value: typed,
    label: $('<i>', { class: 'device-cloud-remark' }).text(text),
    onselect: () => undefined,
  };
}

function row(device: Device): Completion {
  const label = $('<div>', { class: 'device-cloud-device' });
  $('<span>')
    .text(device.name === '' ? device.chipid : `${device.name} · ${device.chipid}`)
    .appendTo(label);
  const seen = t('common.picker.seen', { time: device.latest });
  $('<small>')
    .text(device.latest === '' ? '' : seen)
    .appendTo(label);
  return { value: device.chipid, label };
}

/** The rows under the field, for what has been typed so far. */
export function completions(typed: string, list: DeviceList): Completion[] {
  if ('reason' in list) return [remark(typed, list.reason)];
  if (list.devices.length === 0) return [remark(typed, t('common.picker.none'))];
  const wanted = typed.trim().toLowerCase();
  const exact = list.devices.filter((device) => device.chipid === wanted);
  const others = list.devices.filter((device) => device.chipid !== wanted);
  // A full number has been chosen already: the others are shown to change over to.
  if (exact.length > 0) return [...exact, ...others].map(row);
  const matching = others.filter((device) =>
    `${device.chipid} ${device.name}`.toLowerCase().includes(wanted),
  );
  if (matching.length === 0) return [remark(typed, t('common.picker.unmatched'))];
  // Any number may be typed: it comes first, lest Return replaces it by a device's.
  const first = /^[0-9]+$/.test(wanted) ? [remark(typed, t('common.picker.typed', { typed }))] : [];
  return [...first, ...matching.map(row)];
}

function search(typed: string, done: (completions: Completion[]) => void): void {
  void onlineDevices(fieldValue(field('app'))).then((list) => {
    done(completions(typed, list));
  });
}

/** A device's number as a type of a typedInput: completes from the online devices. */
export function deviceType(): TypeDefinition {
  const type = textType(t('common.type.device'), 'fa fa-microchip', chipNumber);
  return { ...type, autoComplete: search };
}

/** Lets a plain input complete from the online devices. */
export function pickDevice(input: JQuery): void {
  input.autoComplete({ search, minLength: 0 });
}
