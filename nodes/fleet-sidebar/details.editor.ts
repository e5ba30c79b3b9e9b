import { editRow } from './book-row.editor';
import type { EditorNode, EditorNodeBase } from '../common/editor/red';
import { appPath, postRoute } from '../common/editor/routes';
import { ageText, localTime, plain, t } from '../common/editor/texts';
import { TYPE_TYPE } from '../common/shared.config';
import { LISTEN_TYPE } from '../listen/listen.config';
import { readCallbacks, readPins, type TypeConfig } from '../type/type.config';
import {
  askPush,
  command,
  insertListener,
  notify,
  refusal,
  Shown,
  smallButton,
  tried,
  WRITE,
  type Tab,
} from './commands.editor';
import { RecentList } from './recent.editor';
import type { FleetRow } from '../app/answers.config';
import type { Row } from './fleet.editor';
import { channelState, nameOf, onlineText, withApp } from './row.editor';

/** A label, what it says, and what the mouse shows over it. */
type Line = readonly [label: string, text: string, title?: string];

function uploadLine({ lastUpload }: FleetRow, now: number): Line {
  if (lastUpload === null) return ['upload', t('never')];
  return ['upload', ageText(lastUpload, now), localTime(lastUpload)];
}

function lines(device: FleetRow, now: number): Line[] {
  const { lastError, waiting, reconnects, recovered, groups = [], type, alarms = [] } = device;
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
    ['channel', device.elsewhere ? t('status.elsewhere') : channelState(device)],
    ...(groups.length > 0 ? [['groups', groups.join(', ')] as const] : []),
    ...(type === undefined ? [] : [['type', type] as const]),
    ...alarms.map(({ limit, value }) => ['alarm', t('alarm', { limit, value })] as const),
    ['waiting', String(waiting)],
    ['reconnects', String(reconnects)],
    ['recovered', String(recovered)],
    ...error,
  ];
}

/** The type of a device as the editor has it: by its name, which the device book has. */
function typeCalled(name: string | undefined): Partial<TypeConfig> | undefined {
  let found: Partial<TypeConfig> | undefined;
  RED.nodes.eachConfig((node) => {
    const type = node as EditorNode<TypeConfig & { name: string }>;
    if (type.type === TYPE_TYPE && type.name === name) found = type;
  });
  return found;
}

/** What a device has by its type: a switch for each pin, and the value of each callback on demand. */
function controlsOf(tab: Tab, device: Row): JQuery[] {
  const { app, chipid } = device;
  const name = nameOf(device);
  const post = (route: string, body: object): JQueryXHR =>
    postRoute(appPath(app, 'devices', chipid, route), body);
  const set = async (pin: number, level: number): Promise<void> => {
    const values = { device: name, pin, level };
    await tried(`${name} · ${t('command.gpio', values)}`, async () => {
      await post('gpio', { pin, level });
      notify(t('done.gpio', values), 'success');
    });
    tab.readAgain();
  };
  const ask = async (key: string, value: JQuery): Promise<void> => {
    value.text('');
    await tried(`${name} · ${key}`, async () => {
      const answer = (await post('value', { key })) as { value?: unknown };
      value.text(plain(String(answer.value)));
    });
  };
  const button = (of: string, what: 'on' | 'off' | 'read', run: () => Promise<void>): JQuery => {
    const words = t(`action.${what}`);
    const made = smallButton('', words, `${of}: ${words}`, () => void run(), WRITE);
    return made.attr('data-action', what);
  };
  const row = (of: string, ...parts: JQuery[]): JQuery =>
    $('<div>').append($('<span>').text(of), ...parts);
  const { pins = '', callbacks = '' } = typeCalled(device.type) ?? {};
  const read = readPins(pins);
  return [
    ...('pins' in read ? [...read.pins] : []).map(([of, { pin, isLow }]) =>
      row(
        of,
        button(of, 'on', () => set(pin, isLow ? 0 : 1)),
        button(of, 'off', () => set(pin, isLow ? 1 : 0)),
      ),
    ),
    ...readCallbacks(callbacks).map((key) => {
      const value = $('<output>');
      return row(
        key,
        button(key, 'read', () => ask(key, value)),
        value,
      );
    }),
  ];
}

type Properties = EditorNodeBase & Record<string, unknown>;

/** Why a node is shown: it has the number, or is for all devices, for those online, for those that messages name. */
type Use = 'number' | 'all' | 'online' | 'dynamic';

/** The nodes that are for more than the devices that they name. */
const WIDE: Readonly<Record<string, (node: Properties) => Use | undefined>> = {
  [LISTEN_TYPE]: ({ devices }) =>
    devices === 'online' || devices === 'dynamic' ? devices : undefined,
  'device-cloud-events': ({ devices }) => (devices === 'all' ? 'all' : undefined),
  'device-cloud-latest': ({ chipid, chipidType }) =>
    chipidType !== 'msg' && chipid === '' ? 'all' : undefined,
  'device-cloud-push': ({ target }) => (target === 'app' ? 'all' : undefined),
};

/** Properties of every node in the editor that are not its own settings. */
const PLACE = ['id', 'z', 'g', 'wires', 'x', 'y', 'w', 'h'];

function has(value: unknown, number: RegExp, depth = 0): boolean {
  if (typeof value === 'string') return number.test(value);
  if (typeof value === 'number') return number.test(String(value));
  if (typeof value !== 'object' || value === null || depth > 4) return false;
  return Object.values(value).some((inner) => has(inner, number, depth + 1));
}

/** How a node uses a device, as far as its settings say; undefined if they do not. */
function useOf(node: Properties, app: string, number: RegExp): Use | undefined {
  const isOurs = node.type.startsWith('device-cloud-');
  // The same number of another application is another device.
  if (isOurs && 'app' in node && node['app'] !== app) return undefined;
  const wide = WIDE[node.type]?.(node);
  if (wide) return wide;
  // It tells of a device, and does nothing with it.
  if (node.type === 'comment') return undefined;
  // A type whose package is not installed has none.
  const definition = RED.nodes.getType(node.type) as { defaults?: object } | undefined;
  const names = Object.keys(definition?.defaults ?? {});
  const own = names.filter((name) => !PLACE.includes(name));
  return own.some((name) => has(node[name], number)) ? 'number' : undefined;
}

function useButton(node: Properties, use: Use): JQuery {
  const flow = RED.nodes.workspace(node.z ?? '') ?? RED.nodes.subflow(node.z ?? '');
  const about = [t(`use.${use}`), flow?.label ?? flow?.name ?? ''].filter(Boolean);
  return $('<button>', { type: 'button', class: 'device-cloud-fleet-use' })
    .append(
      $('<span>').text(RED.utils.getNodeLabel(node, node.type)),
      $('<small>').text(about.join(' · ')),
    )
    .on('click', () => RED.view.reveal(node.id));
}

/** The nodes that use a device: its own first, then those for all or for online devices. @param app as they name it */
function usesOf({ chipid }: Row, app: string): JQuery {
  const number = new RegExp(`(?<!\\d)${chipid}(?!\\d)`);
  const found: [Properties, Use][] = [];
  RED.nodes.eachNode((node) => {
    const use = useOf(node as Properties, app, number);
    if (use) found.push([node as Properties, use]);
  });
  found.sort(([, a], [, b]) => Number(b === 'number') - Number(a === 'number'));
  const list = $('<ul>').append(found.map(([node, use]) => $('<li>').append(useButton(node, use))));
  const note = $('<p>').text(t(found.length > 0 ? 'use.note' : 'use.none'));
  return $('<section>', { class: 'device-cloud-fleet-uses', role: 'status' }).append(
    $('<h5>').text(t('use.title')),
    list,
    note,
  );
}

/** All of one device, and what can be done with it. */
export class Details {
  readonly element = $('<div>', { class: 'device-cloud-fleet-details', role: 'region' }).hide();
  readonly #title = $('<h4>');
  readonly #buttons: JQuery;
  readonly #uses = $('<div>').appendTo(this.element);
  readonly #controls = $('<div>', { class: 'device-cloud-fleet-controls' });
  readonly #controlled = new Shown();
  readonly #list = $('<dl>');
  readonly #recent: RecentList;
  #device: Row | undefined;
  readonly #tab: Tab;

  /** @param onLeave Escape */
  constructor(tab: Tab, onLeave: () => void) {
    this.#tab = tab;
    this.#recent = new RecentList(tab);
    this.#buttons = this.#actionButtons();
    const head = $('<div>', { class: 'device-cloud-fleet-chosen' }).append(
      this.#title,
      this.#buttons,
    );
    this.element.prepend(head).append(this.#controls, this.#list, this.#recent.element);
    this.element.attr('aria-label', t('details'));
    this.element.on('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      onLeave();
    });
  }

  show(device: Row | undefined, now: number): void {
    const before = this.#device;
    this.#device = device;
    this.element.toggle(device !== undefined);
    if (!device) return;
    if (device.key !== before?.key) {
      this.#uses.empty();
      this.#recent.clear();
      this.element[0]?.scrollTo(0, 0);
    }
    const { pins, callbacks } = typeCalled(device.type) ?? {};
    if (this.#controlled.isNew(device.key, pins, callbacks))
      this.#controls.empty().append(controlsOf(this.#tab, device));
    // As text, always: names and errors come from a server that may be anyone's.
    const title = withApp(nameOf(device), this.#tab.nameOf(device.app));
    this.#title.text(title).attr('title', title);
    const items = lines(device, now).flatMap(([label, text, title = '']) => [
      $('<dt>').text(t(`field.${label}`)),
      $('<dd>', { title, 'data-field': label }).text(text),
    ]);
    this.#list.empty().append(items);
  }

  #actionButtons(): JQuery {
    const tab = this.#tab;
    const bar = $('<div>', { class: 'device-cloud-fleet-actions', role: 'group' });
    bar.attr('aria-label', t('actions'));
    const add = (
      name: string,
      icon: string,
      needs: string | undefined,
      run: (device: Row, button: JQuery) => unknown,
    ): void => {
      const act = (button: JQuery): void => {
        if (this.#device) run(this.#device, button);
      };
      const button = smallButton(icon, t(`action.${name}`), '', act).attr('data-action', name);
      const allow = (): void => {
        const isLocked = needs === 'flows.write' && RED.workspaces.isLocked();
        const why = (needs && refusal(needs)) ?? (isLocked ? t('locked') : undefined);
        button.prop('disabled', why !== undefined).attr('title', why ?? t(`hint.${name}`));
      };
      allow();
      // A flow that is chosen later may be locked.
      RED.events.on('workspace:change', allow);
      button.appendTo(bar);
    };
    add('find', 'search', undefined, (device) => {
      this.#uses.empty().append(usesOf(device, tab.inFlows(device.app)));
      this.element[0]?.scrollTo(0, 0);
    });
    add('copy', 'clipboard', undefined, ({ chipid }, button) =>
      RED.clipboard.copyText(chipid, button, 'clipboard.copyMessageValue'),
    );
    add('listen', 'plus', 'flows.write', ({ app, chipid }) =>
      insertListener(tab.inFlows(app), chipid),
    );
    add('refresh', 'refresh', WRITE, (device) => command(tab, device, 'refresh', {}));
    add('push', 'paper-plane', WRITE, (device) => askPush(tab, device));
    add('book', 'pencil', undefined, (device) => editRow(tab, device));
    return bar;
  }

  readRecent(device: Row): void {
    void this.#recent.read(device);
  }

  focus(): void {
    this.#buttons.find('button:enabled').first().trigger('focus');
  }
}
