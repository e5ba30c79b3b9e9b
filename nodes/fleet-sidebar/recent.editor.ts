import type { DeviceDetails, RecentCommand, RecentUpload } from '../app/answers.config';
import { getRoute } from '../common/editor/routes';
import { localTime, plain, t } from '../common/editor/texts';

const DAY = 86_400_000;

/** The time of day, to the second; of another day the date, too. */
function clockText(at: number, now: number): string {
  if (now - at >= DAY) return localTime(at);
  const options = {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  } as const;
  try {
    return new Date(at).toLocaleTimeString(RED.i18n.lang(), options);
  } catch {
    return new Date(at).toLocaleTimeString([], options);
  }
}

const timeOf = (at: number, now: number): JQuery =>
  $('<time>', { title: localTime(at) }).text(clockText(at, now));

/** As text, always: a device may upload anything. */
function uploadItem({ at, text, size, source }: RecentUpload, now: number): JQuery {
  const shown = text === '' ? t('recent.empty') : plain(text);
  const bytes = t(size === 1 ? 'recent.byte' : 'recent.bytes', { number: size });
  const how = source === 'live' ? [] : [t(`recent.${source}`)];
  return $('<li>').append(
    timeOf(at, now),
    $('<span>', { title: [bytes, ...how].join(' · ') }).text(shown),
    ...how.map((words) => $('<small>').text(words)),
  );
}

const seconds = (ms: number): string =>
  t('recent.seconds', { number: (ms / 1000).toFixed(ms < 10_000 ? 1 : 0) });

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

/** The last uploads and commands of the device that is selected. */
export class RecentList {
  readonly element = $('<div>', { class: 'device-cloud-fleet-recent' });
  #shown = '';
  #of = '';

  /**
   * Reads and shows them; a device that was selected meanwhile is shown instead. Nothing changes if they cannot be read: the
   * list above says why.
   * @param now the server's time, in ms
   */
  async read(app: string, chipid: string, now: () => number): Promise<void> {
    const of = `${app} ${chipid}`;
    if (of !== this.#of) this.clear();
    this.#of = of;
    const path = `apps/${encodeURIComponent(app)}/devices/${encodeURIComponent(chipid)}`;
    try {
      const details = (await getRoute(path)) as DeviceDetails;
      if (this.#of === of) this.#show(details, now());
    } catch {
      // It is read again with the next change.
    }
  }

  clear(): void {
    this.#of = this.#shown = '';
    this.element.empty();
  }

  #show({ uploads, commands }: DeviceDetails, now: number): void {
    // What is selected in it stays so, unless it changes.
    const shown = JSON.stringify([uploads, commands]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const section = (name: string, items: JQuery[], none: string): JQuery[] => [
      $('<h5>').text(t(`recent.${name}`)),
      items.length > 0 ? $('<ol>').append(items) : $('<p>').text(none),
    ];
    this.element.empty().append(
      ...section(
        'uploads',
        (uploads ?? []).map((upload) => uploadItem(upload, now)),
        t(uploads ? 'recent.no-upload' : 'recent.forbidden'),
      ),
      ...section(
        'commands',
        commands.map((command) => commandItem(command, now)),
        t('recent.no-command'),
      ),
    );
  }
}
