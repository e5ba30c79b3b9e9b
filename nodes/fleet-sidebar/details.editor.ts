import { ageText, localTime } from '../common/editor/ages';
import { t } from '../common/editor/catalogue';
import { actionButtons, type Actions } from './actions.editor';
import type { FleetRow } from './fleet.editor';
import { channelState, isElsewhere, onlineText } from './row.editor';

/** A label, what it says, and what the mouse shows over it. */
type Line = readonly [label: string, text: string, title?: string];

function uploadLine(device: FleetRow, now: number): Line {
  const { lastUpload } = device;
  if (isElsewhere(device)) return ['upload', channelState(device)];
  if (lastUpload === null) return ['upload', t('never')];
  return ['upload', ageText(lastUpload, now), localTime(lastUpload)];
}

function lines(device: FleetRow, now: number): Line[] {
  const { chipid, lastError, waiting, reconnects, recovered, process } = device;
  const online =
    device.since === null || device.online === null
      ? onlineText(device)
      : t('online.since', { state: onlineText(device), age: ageText(device.since, now) });
  const error: Line[] = lastError
    ? [['error', `${lastError.message} (${ageText(lastError.at, now)})`, localTime(lastError.at)]]
    : [];
  return [
    ['number', chipid],
    ['online', online, device.since === null ? '' : localTime(device.since)],
    uploadLine(device, now),
    ['channel', channelState(device)],
    ...(process === undefined ? [] : [['process', process] as const]),
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
  #isShown = false;

  /** @param onLeave Escape */
  constructor(actions: Actions, onLeave: () => void) {
    this.#buttons = actionButtons(actions).appendTo(this.element);
    this.#list.appendTo(this.element);
    this.element.attr('aria-label', t('details'));
    this.element.on('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      onLeave();
    });
  }

  show(device: FleetRow | undefined, now: number): void {
    const wasShown = this.#isShown;
    this.#isShown = device !== undefined;
    this.element.toggle(this.#isShown);
    if (!device) return;
    // As text, always: names and errors come from a server that may be anyone's.
    this.#title.text(device.name ?? device.chipid);
    const items = lines(device, now).flatMap(([label, text, title = '']) => [
      $('<dt>').text(t(`field.${label}`)),
      $('<dd>', { title, 'data-field': label }).text(text),
    ]);
    this.#list.empty().append(items);
    // Where the sidebar is low, they are below its edge.
    if (!wasShown) this.element[0]?.scrollIntoView({ block: 'nearest' });
  }

  focus(): void {
    this.#buttons.find('button:enabled').first().trigger('focus');
  }
}
