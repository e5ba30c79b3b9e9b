import { ageText, elapsed, t } from '../common/editor/texts';
import type { FleetRow } from '../app/answers.config';

/** Pixels of a row: two lines, or one where the tab is low. */
export const ROW_HEIGHTS = { high: 44, low: 24 } as const;

/** Those of two lines and those of one; the style shows what fits. What a glance looks for comes first, the number last. */
const PARTS = [
  'dot',
  'name',
  'age',
  'latest',
  'values',
  'channel',
  'counts',
  'waiting',
  'error',
  'since',
  'number',
] as const;

/** A device by its name, if it has one, and its number. */
export const nameOf = ({ name, chipid }: Pick<FleetRow, 'name' | 'chipid'>): string =>
  name === null ? chipid : `${name} (${chipid})`;

/** The same in a row, where several applications are shown: the number has no room beside them. */
export const titleOf = (device: Pick<FleetRow, 'name' | 'chipid'>, app: string): string =>
  app === '' ? nameOf(device) : withApp(device.name ?? device.chipid, app);

/** A device of several applications. */
export const withApp = (device: string, app: string): string =>
  app === '' ? device : `${device} · ${app}`;

/** Of an object in JSON, what a glance can take in: `temperature: 21.5, humidity: 48`. */
const glance = (text: string): string =>
  text.startsWith('{"')
    ? text
        .replace(/^\{|\}$/g, '')
        .replace(/"([^"\\]*)":\s*/g, '$1: ')
        .replace(/,(?=\S)/g, ', ')
    : text;

/** The values of such a text without the names of their fields: `21.5 °C · 48`. */
const valuesOf = (text: string): string =>
  text.replace(/(^| · |, )[^\s:·,][^:·,]*: /g, (_, before: string) => (before === '' ? '' : ' · '));

function emptyRow(name: string, parts: readonly string[]): HTMLElement {
  const row = $('<div>', { class: `device-cloud-fleet-${name}` });
  return row.append(parts.map((part) => $('<span>', { class: part })))[0] as HTMLElement;
}

/** An empty row of two lines. */
export const createRow = (): HTMLElement =>
  emptyRow(
    'row',
    PARTS.map((part) => `device-cloud-fleet-${part}`),
  );

/** An empty row of some texts, with a button. The list has the focus, and Enter does the same or more. */
export function createLine(parts: number, button: JQuery): HTMLElement {
  const texts = Array.from({ length: parts }, () => '');
  return $(emptyRow('line', texts)).append(button.attr('tabindex', -1))[0] as HTMLElement;
}

/** Fills such a row. As text, always. */
export function fillLine(row: HTMLElement, texts: readonly string[]): void {
  texts.forEach((text, index) => {
    const part = row.children[index];
    if (part && part.textContent !== text) part.textContent = text;
  });
  row.title = texts.join('\n');
  row.setAttribute('aria-label', texts.join(', '));
}

export const onlineText = ({ online, missing }: FleetRow): string => {
  if (missing) return t('online.missing');
  return t(online === null ? 'online.unknown' : online ? 'online.yes' : 'common.picker.offline');
};

/** The state of the channel, with the reason if it is not connected. */
export function channelState({ channel }: FleetRow): string {
  if (channel === null) return t('channel.none');
  const state = t(`status.${channel.state}`);
  const { reason } = channel;
  const isDown = channel.state !== 'connected' && reason !== null;
  return isDown ? t('channel.reason', { state, reason }) : state;
}

/** The same where no label says that it is about the channel. */
const channelText = (device: FleetRow): string =>
  device.channel === null ? t('channel.none') : t('channel.is', { state: channelState(device) });

const countTexts = ({ alarms = [], waiting, reconnects, recovered }: FleetRow): string[] =>
  Object.entries({ alarms: alarms.length, waiting, reconnects, recovered }).flatMap(
    ([name, number]) => (number > 0 ? t(`count.${name}`, { number }) : []),
  );

const filled = new WeakMap<HTMLElement, { device: FleetRow; age: string }>();

/**
 * Fills a row. As text, always: names and errors come from a server that may be anyone's.
 * @param app the name of its application, where several are shown
 */
export function fillRow(row: HTMLElement, device: FleetRow, now: number, app: string): void {
  const { chipid, name, lastUpload, channel, lastError } = device;
  const age = lastUpload === null ? '' : ageText(lastUpload, now);
  const before = filled.get(row);
  if (before?.device === device && before.age === age) return;
  filled.set(row, { device, age });
  const counts = countTexts(device);
  const error = lastError?.code ?? '';
  const latest = glance(device.latest ?? '');
  const missing = device.missing ? t('online.missing') : '';
  // That it is connected goes without saying where there is something else to say.
  const isPlain = channel === null || (channel.state === 'connected' && latest !== '');
  const since = lastUpload === null ? '' : elapsed(lastUpload, now);
  const texts: Record<(typeof PARTS)[number], string> = {
    dot: '',
    name: withApp(name ?? chipid, app),
    age,
    since,
    number: name === null ? '' : chipid,
    latest,
    values: valuesOf(latest),
    counts: counts.join(' · '),
    error,
    channel: isPlain ? missing : channelText(device),
    waiting: device.waiting > 0 ? String(device.waiting) : '',
  };
  PARTS.forEach((part, index) => {
    const element = row.children[index];
    if (element && element.textContent !== texts[part]) element.textContent = texts[part];
  });
  row.dataset['online'] = String(device.online);
  row.dataset['channel'] = channel?.state ?? '';
  const uploaded = age === '' ? t('never') : t('uploaded', { age });
  const said = [name ?? '', chipid, app, onlineText(device), uploaded, latest, channelText(device)];
  row.setAttribute('aria-label', [...said, ...counts, error].filter(Boolean).join(', '));
  // Also what has no room in the row.
  const groups = [...(device.groups ?? []), device.type ?? ''].filter(Boolean).join(', ');
  const shown = [texts.name, texts.number, missing || channelText(device), groups];
  shown.push(counts.join(' · '), age === '' ? '' : uploaded, latest);
  row.title = [...shown, lastError?.message ?? ''].filter(Boolean).join('\n');
}
