import type { DeviceDetails, KeptPin, RecentCommand, ShownUpload } from '../app/answers.config';
import { appPath, getRoute, statusText } from '../common/editor/routes';
import { clockText, localTime, plainAll, t } from '../common/editor/texts';
import { Shown, type Tab } from './commands.editor';
import type { Row } from './fleet.editor';
import { waitingItems } from './waiting.editor';

const timeOf = (at: number, now: number): JQuery =>
  $('<time>', { title: localTime(at) }).text(clockText(at, now));

/** As text, always: a device may upload anything. */
function uploadItem({ at, text, size, source }: ShownUpload, now: number): JQuery {
  const shown = text === '' ? t('recent.empty') : text;
  const bytes = t('common.note.bytes', { bytes: size });
  const how = source === 'live' ? [] : [t(`recent.${source}`)];
  return $('<li>').append(
    timeOf(at, now),
    $('<span>', { title: [bytes, ...how].join(' · ') }).text(shown),
    ...how.map((words) => $('<small>').text(words)),
  );
}

const seconds = (ms: number): string =>
  t('common.age.s', { n: (ms / 1000).toFixed(ms < 10_000 ? 1 : 0) });

function outcomeText({ outcome, took }: RecentCommand): string {
  if (outcome === null) return t('recent.pending');
  const words = statusText(outcome);
  const said = outcome === 'OK' ? 'OK' : words === '' ? outcome : `${outcome} · ${words}`;
  return took === null ? said : `${said} · ${seconds(took)}`;
}

function commandItem(command: RecentCommand, now: number): JQuery {
  const { at, kind, pin, level, outcome, message = '' } = command;
  const failed = outcome !== null && outcome !== 'OK';
  const words = $('<span>', { title: message }).text(t(`command.${kind}`, { pin, level }));
  const end = $('<small>').text(outcomeText(command));
  return $('<li>', { class: failed ? 'device-cloud-fleet-failed' : '' }).append(
    timeOf(at, now),
    words,
    end,
  );
}

/** A pin that is to keep its level: the wanted level, the found one, and whether they agree. */
function pinItem({ pin, wanted, found, state }: KeptPin): JQuery {
  const seen =
    found === null || found === undefined
      ? t('pin.not-read')
      : typeof found === 'string'
        ? found
        : JSON.stringify(found);
  return $('<li>', { class: state === 'differs' ? 'device-cloud-fleet-failed' : '' }).append(
    $('<span>').text(t('pin.wanted', { pin, wanted, found: seen })),
    $('<small>', { title: t(`pin.hint.${state}`) }).text(t(`pin.${state}`)),
  );
}

const WIDTH = 100;
const HEIGHT = 20;

/** Of a float of 32 bits, more digits are noise. */
const numberText = (value: number): string => String(Number(value.toPrecision(7)));

/** The values of each field that is a number, the oldest first: at most as many as there are uploads. */
function fieldsOf(uploads: ShownUpload[]): Map<string, number[]> {
  const fields = new Map<string, number[]>();
  // Of two that came at once, the newest is first.
  for (const { numbers = {} } of uploads.toReversed().sort((a, b) => a.at - b.at))
    for (const [name, value] of Object.entries(numbers))
      fields.set(name, [...(fields.get(name) ?? []), value]);
  return fields;
}

/** @param values at least two */
function line(values: number[], least: number, most: number, title: string): JQuery {
  const points = values.map((value, index) => {
    const y = most > least ? ((most - value) / (most - least)) * HEIGHT : HEIGHT / 2;
    return `${((index / (values.length - 1)) * WIDTH).toFixed(1)},${y.toFixed(1)}`;
  });
  const shape = `<title></title><polyline points="${points.join(' ')}"></polyline>`;
  const box = `viewBox="0 -2 ${WIDTH} ${HEIGHT + 4}" preserveAspectRatio="none" role="img"`;
  const image = $(`<svg ${box}>${shape}</svg>`);
  image.children('title').text(title);
  return image;
}

/** Of each field that is a number, its course in the last uploads and its latest value. As text, always: names may be anything. */
const fieldItems = (uploads: ShownUpload[], units: Record<string, string>): JQuery[] =>
  [...fieldsOf(uploads)].map(([name, values]) => {
    const unit = Object.hasOwn(units, name) ? ` ${units[name]}` : '';
    const text = (value = 0): string => numberText(value) + unit;
    const least = Math.min(...values);
    const most = Math.max(...values);
    const words = { name, least: text(least), most: text(most), number: values.length };
    const title = t('recent.course', words);
    return $('<li>', { class: 'device-cloud-fleet-field', title }).append(
      $('<span>').text(name),
      values.length > 1 ? line(values, least, most, title) : '',
      $('<small>').text(text(values.at(-1))),
    );
  });

/** What the device that is selected is to do, and its last uploads and commands. */
export class RecentList {
  readonly element = $('<div>', { class: 'device-cloud-fleet-recent' });
  #shown = new Shown();
  #of = '';
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
  }

  /**
   * Reads and shows them; a device that was selected meanwhile is shown instead. Nothing changes if they cannot be read: the
   * list above says why.
   */
  async read({ app, chipid, key }: Row): Promise<void> {
    if (key !== this.#of) this.clear();
    this.#of = key;
    try {
      const found: unknown = await getRoute(appPath(app, 'devices', chipid));
      const details = plainAll(found as DeviceDetails);
      if (this.#of === key) this.#show(app, details);
    } catch {
      // It is read again with the next change.
    }
  }

  clear(): void {
    this.#of = '';
    this.#shown = new Shown();
    this.element.empty();
  }

  #show(app: string, details: DeviceDetails): void {
    const { uploads, units = {}, commands, waitingCommands = [], pins = [] } = details;
    if (!this.#shown.isNew(uploads, units, commands, waitingCommands, pins)) return;
    const now = this.#tab.now();
    const section = (name: string, items: JQuery[], none: string): JQuery[] => [
      $('<h5>').text(t(`recent.${name}`)),
      items.length > 0 ? $('<ol>').append(items) : $('<p>').text(none),
    ];
    // Most devices have neither.
    const has = (name: string, items: JQuery[]): JQuery[] =>
      items.length > 0 ? section(name, items, '') : [];
    this.element.empty().append(
      ...has('pins', pins.map(pinItem)),
      ...has('waiting', waitingItems(waitingCommands, app, this.#tab)),
      ...has('fields', fieldItems(uploads ?? [], units)),
      ...section(
        'uploads',
        (uploads ?? []).map((upload) => uploadItem(upload, now)),
        uploads ? t('recent.none') : t('common.forbidden', { permission: 'flows.read' }),
      ),
      ...section(
        'commands',
        commands.map((command) => commandItem(command, now)),
        t('recent.none'),
      ),
    );
  }
}
