import { t } from '../common/editor/catalogue';
import { actionButtons, type Actions } from './actions.editor';
import { ageText, timeText } from './age.editor';
import type { FleetRow } from './fleet.editor';
import { channelText, onlineText } from './row.editor';

/** A label, what it says, and what the mouse shows over it. */
type Line = readonly [label: string, text: string, title?: string];

const since = (at: number, now: number): string => ageText(at, now);

function lines(device: FleetRow, now: number): Line[] {
  const { chipid, lastUpload, lastError, waiting, reconnects, recovered } = device;
  const online =
    device.since === null || device.online === null
      ? onlineText(device)
      : t('online.since', { state: onlineText(device), age: since(device.since, now) });
  const error: Line[] = lastError
    ? [['error', `${lastError.message} (${ageText(lastError.at, now)})`, timeText(lastError.at)]]
    : [];
  return [
    ['number', chipid],
    ['online', online, device.since === null ? '' : timeText(device.since)],
    lastUpload === null
      ? ['upload', t('never')]
      : ['upload', ageText(lastUpload, now), timeText(lastUpload)],
    ['channel', channelText(device)],
    ['waiting', String(waiting)],
    ['reconnects', String(reconnects)],
    ['recovered', String(recovered)],
    ...error,
  ];
}

/** All of one device, and what can be done with it. */
export class Details {
  readonly element = $('<div>', { class: 'device-cloud-fleet-details', role: 'region' }).hide();
  readonly #title = $('<h4>').appendTo(this.element);
  readonly #buttons: JQuery;
  readonly #list = $('<dl>');

  constructor(actions: Actions) {
    this.#buttons = actionButtons(actions).appendTo(this.element);
    this.#list.appendTo(this.element);
    this.element.attr('aria-label', t('details'));
  }

  show(device: FleetRow | undefined, now: number): void {
    this.element.toggle(device !== undefined);
    if (!device) return;
    // As text, always: names and errors come from a server that may be anyone's.
    this.#title.text(device.name ?? device.chipid);
    const items = lines(device, now).flatMap(([label, text, title = '']) => [
      $('<dt>').text(t(`field.${label}`)),
      $('<dd>', { title, 'data-field': label }).text(text),
    ]);
    this.#list.empty().append(items);
  }

  focus(): void {
    this.#buttons.find('button:enabled').first().trigger('focus');
  }
}
