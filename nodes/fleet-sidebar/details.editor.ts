import { editRow } from './book-row.editor';
import { ageText, localTime, t } from '../common/editor/texts';
import {
  askPush,
  command,
  insertListener,
  mayCommand,
  type Tab,
  type Target,
} from './commands.editor';
import { RecentList } from './recent.editor';
import { usesOf } from './uses.editor';
import type { FleetRow } from '../app/answers.config';
import { channelState, isElsewhere, nameOf, onlineText } from './row.editor';

interface Actions {
  tab: Tab;
  target: () => Target | undefined;
  /** Shows the nodes that use the device. */
  showUses: (target: Target) => void;
}

const mayEdit = (): boolean => RED.user.hasPermission('flows.write') && !RED.workspaces.isLocked();

interface Action {
  name: string;
  icon: string;
  may: () => boolean;
  run: (target: Target, button: JQuery, actions: Actions) => void | Promise<void>;
}

const ACTIONS: readonly Action[] = [
  {
    ...{ name: 'find', icon: 'search', may: () => true },
    run: (target, _button, { showUses }) => showUses(target),
  },
  {
    ...{ name: 'copy', icon: 'clipboard', may: () => true },
    run: ({ chipid }, button) =>
      void RED.clipboard.copyText(chipid, button, 'clipboard.copyMessageValue'),
  },
  {
    name: 'listen',
    icon: 'plus',
    may: mayEdit,
    run: ({ app, chipid }) => insertListener(app, chipid),
  },
  {
    ...{ name: 'refresh', icon: 'refresh', may: mayCommand },
    run: (target) => command(target, 'refresh', {}),
  },
  { name: 'push', icon: 'paper-plane', may: mayCommand, run: askPush },
  {
    ...{ name: 'book', icon: 'pencil', may: () => true },
    run: (target, _button, { tab }) => editRow(tab, target),
  },
];

/** The buttons for the device that is selected. Who may not do something sees why. */
function actionButtons(actions: Actions): JQuery {
  const bar = $('<div>', { class: 'device-cloud-fleet-actions', role: 'group' });
  bar.attr('aria-label', t('actions'));
  for (const { name, icon, may, run } of ACTIONS) {
    const button = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
    button
      .attr({ 'data-action': name, 'aria-label': t(`action.${name}`) })
      .append($('<i>', { class: `fa fa-${icon}` }), ' ');
    button.append($('<span>').text(t(`action.${name}`))).appendTo(bar);
    const allow = (): void => {
      const allowed = may();
      button
        .prop('disabled', !allowed)
        .attr('title', t(allowed ? `hint.${name}` : 'forbidden-write'));
    };
    allow();
    // A flow that is chosen later may be locked.
    RED.events.on('workspace:change', allow);
    button.on('click', () => {
      const chosen = actions.target();
      if (chosen) void run(chosen, button, actions);
    });
  }
  return bar;
}

/** A label, what it says, and what the mouse shows over it. */
type Line = readonly [label: string, text: string, title?: string];

function uploadLine(device: FleetRow, now: number): Line {
  const { lastUpload } = device;
  if (isElsewhere(device)) return ['upload', channelState(device)];
  if (lastUpload === null) return ['upload', t('never')];
  return ['upload', ageText(lastUpload, now), localTime(lastUpload)];
}

function lines(device: FleetRow, now: number): Line[] {
  const { lastError, waiting, reconnects, recovered, process, groups = [], type } = device;
  const online =
    device.since === null || device.online === null
      ? onlineText(device)
      : t('online.since', { state: onlineText(device), age: ageText(device.since, now) });
  const error: Line[] = lastError
    ? [['error', `${lastError.message} (${ageText(lastError.at, now)})`, localTime(lastError.at)]]
    : [];
  return [
    ['online', online, device.since === null ? '' : localTime(device.since)],
    uploadLine(device, now),
    ['channel', channelState(device)],
    ...(process === undefined ? [] : [['process', process] as const]),
    ...(groups.length > 0 ? [['groups', groups.join(', ')] as const] : []),
    ...(type === undefined ? [] : [['type', type] as const]),
    ['waiting', String(waiting)],
    ['reconnects', String(reconnects)],
    ['recovered', String(recovered)],
    ...error,
  ];
}

/** All of one device, and what can be done with it. */
export class Details {
  readonly element = $('<div>', { class: 'device-cloud-fleet-details', role: 'region' }).hide();
  readonly #title = $('<h4>');
  readonly #buttons: JQuery;
  readonly #uses = $('<div>').appendTo(this.element);
  readonly #list = $('<dl>');
  readonly #recent: RecentList;
  #isShown = false;
  #chipid = '';

  /** @param onLeave Escape */
  constructor(tab: Tab, target: () => Target | undefined, onLeave: () => void) {
    this.#recent = new RecentList(tab);
    const showUses = (chosen: Target): void => {
      this.#uses.empty().append(usesOf(chosen));
      this.element[0]?.scrollTo(0, 0);
    };
    this.#buttons = actionButtons({ tab, target, showUses });
    const head = $('<div>', { class: 'device-cloud-fleet-chosen' }).append(
      this.#title,
      this.#buttons,
    );
    this.element.prepend(head).append(this.#list, this.#recent.element);
    this.element.attr('aria-label', t('details'));
    this.element.on('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      onLeave();
    });
  }

  show(device: FleetRow | undefined, now: number): void {
    this.#isShown = device !== undefined;
    this.element.toggle(this.#isShown);
    if (!device) return;
    if (device.chipid !== this.#chipid) {
      this.#chipid = device.chipid;
      this.#uses.empty();
      this.#recent.clear();
      this.element[0]?.scrollTo(0, 0);
    }
    // As text, always: names and errors come from a server that may be anyone's.
    const title = nameOf(device);
    this.#title.text(title).attr('title', title);
    const items = lines(device, now).flatMap(([label, text, title = '']) => [
      $('<dt>').text(t(`field.${label}`)),
      $('<dd>', { title, 'data-field': label }).text(text),
    ]);
    this.#list.empty().append(items);
  }

  /** Reads what the device is to do, and its last uploads and commands. */
  readRecent(chipid: string): void {
    void this.#recent.read(chipid);
  }

  focus(): void {
    this.#buttons.find('button:enabled').first().trigger('focus');
  }
}
