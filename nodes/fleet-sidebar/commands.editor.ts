import { appPath, explainFailure, postRoute, type Problem } from '../common/editor/routes';
import { fieldValue } from '../common/editor/rows';
import type { NotificationOptions } from '../common/editor/red';
import { said, t } from '../common/editor/texts';
import { MESSAGE_CHOICES } from '../common/shared.config';
import { LISTEN_TYPE } from '../listen/listen.config';
import type { Fleet, Row } from './fleet.editor';
import { nameOf } from './row.editor';

/** What the parts of the tab know of each other. */
export interface Tab {
  /** Id of the application that is chosen; empty: none, or all. */
  readonly app: string;
  /** Ids of those that are shown. */
  readonly apps: readonly string[];
  readonly fleet: Fleet;
  /** The name of an application where several are shown; otherwise empty. */
  nameOf(app: string): string;
  /** The id that nodes in the flows name. */
  inFlows(app: string): string;
  /** The server's time, in ms. */
  now(): number;
  /** Shows an application. */
  choose(app: string): void;
  showView(name: string): void;
  /** Shows a device in the list, and its details. */
  showDevice(app: string, chipid: string): void;
  /** What the list shows. */
  shown(): Row[];
  /** Reads what has changed, now. */
  readAgain(): void;
}

/** A part of the tab in place of the list of devices. */
export interface View {
  readonly element: JQuery;
  /** Of the button that shows it, if that says more than its name. */
  readonly label?: JQuery;
  /** Called when it is shown, when another application is chosen, and whenever something has changed. */
  read(): void;
}

/** What a part of the tab shows. It is made anew only if that changes: what has the focus keeps it, what is selected stays so. */
export class Shown {
  #text = '';

  isNew(...shown: unknown[]): boolean {
    const before = this.#text;
    this.#text = JSON.stringify(shown);
    return this.#text !== before;
  }
}

/** What whoever changes something needs. */
export const WRITE = 'device-cloud.write';

export const mayCommand = (): boolean => RED.user.hasPermission(WRITE);

/** Names the first of these permissions that the user lacks; undefined if the user has all of them. */
export function refusal(...needed: readonly string[]): string | undefined {
  const permission = needed.find((each) => !RED.user.hasPermission(each));
  return permission && t('common.forbidden', { permission });
}

/** Why something could not be read. */
export const readProblem = (failure: unknown): Problem =>
  explainFailure(failure, 'device-cloud.read');

/** Why something could not be changed. */
export const writeProblem = (failure: unknown): Problem => explainFailure(failure, WRITE);

/** A small button with an icon, words, or both. @param needed permissions: who lacks one sees which */
export function smallButton(
  icon: string,
  words: string,
  hint: string,
  run: (button: JQuery) => void,
  ...needed: readonly string[]
): JQuery {
  const button = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
  const refused = refusal(...needed);
  button.attr({ title: refused ?? hint, 'aria-label': words || hint });
  button.prop('disabled', refused !== undefined);
  if (icon !== '') button.append($('<i>', { class: `fa fa-${icon}` }));
  if (words !== '') button.append(icon === '' ? '' : ' ', $('<span>').text(words));
  return button.on('click', () => run(button));
}

/** Says how something ended, where the editor says such things. */
export function notify(text: string, type: 'success' | 'error', detail = ''): void {
  // As text, always: it comes from a server that may be anyone's.
  const content = $('<p>').text(text);
  if (detail !== '')
    $('<small>', { class: 'device-cloud-fleet-reason' }).text(detail).appendTo(content);
  RED.notify(content, { type, timeout: type === 'error' ? 8000 : 3000 });
}

/** What the service has answered to a refresh. Its document shows no status but `online`. */
function refreshed(device: string, status: unknown): string {
  const known =
    status === 'online' ? t('online.yes') : status === 'offline' ? t('common.picker.offline') : '';
  return t('done.refresh', { device, status: known || String(status) });
}

/** Calls a device. @param name `refresh` or `push` */
export async function command(tab: Tab, device: Row, name: string, body: object): Promise<void> {
  const { app, chipid } = device;
  const title = nameOf(device);
  await tried(`${title} · ${t(`command.${name}`)}`, async () => {
    const answer: unknown = await postRoute(appPath(app, 'devices', chipid, name), body);
    const { status } = answer as { status?: unknown };
    notify(
      name === 'refresh' ? refreshed(title, status) : t('done.push', { device: title }),
      'success',
    );
  });
  tab.readAgain();
}

/** Does something, or says why it has failed. @param what it is, in words @param problemOf the failure */
export const tried = (
  what: string,
  act: () => Promise<void>,
  problemOf = writeProblem,
): Promise<void> =>
  act().catch((failure: unknown) => {
    const { reason, detail } = problemOf(failure);
    notify(said(what, reason), 'error', detail);
  });

/** Reads something, or says why it cannot be read. */
export const triedToRead = (act: () => Promise<void>): Promise<void> =>
  tried(t('failed.read'), act, readProblem);

/** A form that is nothing but a question. As text, always: a name in it comes from a server that may be anyone's. */
export const question = (text: string): JQuery => $('<form>').append($('<p>').text(text));

/**
 * Asks before something is done.
 * @param words of the buttons; without a `yes` there is only something to read
 * @param yes may promise false, so that the form stays open
 */
export function ask(form: JQuery, words: { no: string; yes?: string }, yes: () => unknown): void {
  const close = (): void => notification.close();
  let isBusy = false;
  const agree = async (): Promise<void> => {
    if (isBusy || words.yes === undefined) return;
    isBusy = true;
    const isDone = await yes();
    isBusy = false;
    if (isDone !== false) close();
  };
  const buttons: NotificationOptions['buttons'] = [{ text: words.no, click: close }];
  if (words.yes !== undefined)
    buttons.push({ text: words.yes, class: 'primary', click: () => void agree() });
  const notification = RED.notify(form, { modal: true, fixed: true, type: 'warning', buttons });
  form.on('submit', (event) => {
    event.preventDefault();
    void agree();
  });
  form.on('keydown', ({ key }) => {
    if (key === 'Escape') close();
  });
  setTimeout(() => {
    const inputs = form.find('input:enabled');
    (inputs.length > 0 ? inputs : form.closest('.red-ui-notification').find('button'))
      .first()
      .trigger('focus');
  });
}

/** A field of a form, with its label before it. */
export const labelled = (label: string, input: JQuery): JQuery[] => [
  $('<label>', { for: input.attr('id') }).text(label),
  input,
];

/** Words that do something, as a link. */
export const linkButton = (words: string, run: () => void): JQuery =>
  $('<button>', { type: 'button', class: 'device-cloud-fleet-link' }).text(words).on('click', run);

/** The name of a node; undefined if it is not in the editor. */
export function nodeName(id: string | undefined): string | undefined {
  const node = id === undefined ? undefined : RED.nodes.node(id);
  return node ? RED.utils.getNodeLabel(node, node.type) : undefined;
}

/** Asks what to push to a device, and pushes it. */
export function askPush(tab: Tab, device: Row): void {
  const message = $('<input>', { type: 'text', id: 'device-cloud-fleet-message' });
  const option = (value: string): JQuery =>
    $('<option>', { value, text: t(`common.format.${value}`) });
  const formats = MESSAGE_CHOICES.format.filter((each) => each !== 'msg');
  const format = $('<select>', { id: 'device-cloud-fleet-format' }).append(formats.map(option));
  const form = $('<form>', { class: 'device-cloud-fleet-push' }).append(
    // As text, always: the name comes from a server that may be anyone's.
    $('<p>').text(t('push.ask', { device: nameOf(device) })),
    ...labelled(t('common.label.message'), message),
    ...labelled(t('common.label.format'), format),
  );
  ask(form, { no: RED._('common.label.cancel'), yes: t('command.push') }, () => {
    const body = { message: fieldValue(message), format: fieldValue(format) };
    void command(tab, device, 'push', body);
  });
}

/** Puts a listener for a device at the cursor, as the palette would, but filled in. */
export function insertListener(app: string, chipid: string): void {
  const { defaults } = RED.nodes.getType(LISTEN_TYPE);
  const usual = Object.entries(defaults).map(([property, { value }]) => [property, value] as const);
  const filled = { ...Object.fromEntries(usual), app, devices: 'list', chipids: [chipid] };
  const place = { x: 0, y: 0, z: '', wires: [[]] };
  RED.view.importNodes([{ id: 'listener', type: LISTEN_TYPE, ...filled, ...place }], {
    generateIds: true,
  });
}
