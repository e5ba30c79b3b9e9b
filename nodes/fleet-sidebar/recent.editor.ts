import type { DeviceDetails, KeptPin, RecentCommand, ShownUpload } from '../app/answers.config';
import { appPath, getRoute } from '../common/editor/routes';
import { clockText, localTime, plain, t } from '../common/editor/texts';
import type { Tab } from './commands.editor';
import { fieldItems } from './field-lines.editor';
import type { Row } from './fleet.editor';
import { waitingItems } from './waiting.editor';

const timeOf = (at: number, now: number): JQuery =>
  $('<time>', { title: localTime(at) }).text(clockText(at, now));

/** As text, always: a device may upload anything. */
function uploadItem({ at, text, size, source }: ShownUpload, now: number): JQuery {
  const shown = text === '' ? t('recent.empty') : plain(text);
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
  const code = outcome.toLowerCase().replaceAll('_', '-');
  const words = t(`status.${code}`, { defaultValue: '' });
  const said = outcome === 'OK' ? 'OK' : words === '' ? outcome : `${outcome} · ${words}`;
  return took === null ? said : `${said} · ${seconds(took)}`;
}

function commandItem(command: RecentCommand, now: number): JQuery {
  const { at, kind, pin, level, outcome, message = '' } = command;
  const failed = outcome !== null && outcome !== 'OK';
  const words = $('<span>', { title: plain(message) });
  words.text(t(`command.${kind}`, { pin, level }));
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
      : plain(typeof found === 'string' ? found : JSON.stringify(found));
  return $('<li>', { class: state === 'differs' ? 'device-cloud-fleet-failed' : '' }).append(
    $('<span>').text(t('pin.wanted', { pin, wanted, found: seen })),
    $('<small>', { title: t(`pin.hint.${state}`) }).text(t(`pin.${state}`)),
  );
}

/** What the device that is selected is to do, and its last uploads and commands. */
export class RecentList {
  readonly element = $('<div>', { class: 'device-cloud-fleet-recent' });
  #shown = '';
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
      const details = (await getRoute(appPath(app, 'devices', chipid))) as DeviceDetails;
      if (this.#of === key) this.#show(app, details);
    } catch {
      // It is read again with the next change.
    }
  }

  clear(): void {
    this.#of = this.#shown = '';
    this.element.empty();
  }

  #show(app: string, details: DeviceDetails): void {
    const { uploads, units = {}, commands, waitingCommands = [], pins = [] } = details;
    // What is selected in it stays so, unless it changes.
    const shown = JSON.stringify([uploads, units, commands, waitingCommands, pins]);
    if (shown === this.#shown) return;
    this.#shown = shown;
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
