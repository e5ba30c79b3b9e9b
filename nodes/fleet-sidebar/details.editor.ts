import { editRow } from './book-row.editor';
import type { EditorNode } from '../common/editor/red';
import { appPath, postRoute } from '../common/editor/routes';
import { ageText, localTime, plain, t } from '../common/editor/texts';
import { TYPE_TYPE } from '../common/shared.config';
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
  type Target,
  type Tab,
} from './commands.editor';
import { RecentList } from './recent.editor';
import { usesOf } from './uses.editor';
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
class Controls {
  readonly element = $('<div>', { class: 'device-cloud-fleet-controls' });
  readonly #tab: Tab;
  readonly #target: () => Target | undefined;
  readonly #shown = new Shown();

  constructor(tab: Tab, target: () => Target | undefined) {
    this.#tab = tab;
    this.#target = target;
  }

  /** @param device its key @param type of it */
  show(device: string, type: string | undefined): void {
    const { pins: pinText = '', callbacks = '' } = typeCalled(type) ?? {};
    if (!this.#shown.isNew(device, pinText, callbacks)) return;
    const read = readPins(pinText);
    const pins = 'pins' in read ? [...read.pins] : [];
    this.element.empty().append(
      pins.map(([name, { pin, isLow }]) =>
        this.#row(
          name,
          this.#button(name, 'on', () => this.#set(pin, isLow ? 0 : 1)),
          this.#button(name, 'off', () => this.#set(pin, isLow ? 1 : 0)),
        ),
      ),
      readCallbacks(callbacks).map((key) => {
        const value = $('<output>');
        return this.#row(
          key,
          this.#button(key, 'read', () => this.#ask(key, value)),
          value,
        );
      }),
    );
  }

  #button(of: string, what: 'on' | 'off' | 'read', run: () => Promise<void>): JQuery {
    const words = t(`action.${what}`);
    const button = smallButton('', words, `${of}: ${words}`, () => void run(), WRITE);
    return button.attr('data-action', what);
  }

  #row(name: string, ...parts: JQuery[]): JQuery {
    return $('<div>').append($('<span>').text(name), ...parts);
  }

  async #set(pin: number, level: 0 | 1): Promise<void> {
    const device = this.#target();
    if (!device) return;
    const values = { device: device.name, pin, level };
    await tried(`${device.name} · ${t('command.gpio', values)}`, async () => {
      await postRoute(appPath(device.app, 'devices', device.chipid, 'gpio'), { pin, level });
      notify(t('done.gpio', values), 'success');
    });
    this.#tab.readAgain();
  }

  async #ask(key: string, value: JQuery): Promise<void> {
    const device = this.#target();
    if (!device) return;
    value.text('');
    await tried(`${device.name} · ${key}`, async () => {
      const path = appPath(device.app, 'devices', device.chipid, 'value');
      const answer = (await postRoute(path, { key })) as { value?: unknown };
      value.text(plain(String(answer.value)));
    });
  }
}

/** All of one device, and what can be done with it. */
export class Details {
  readonly element = $('<div>', { class: 'device-cloud-fleet-details', role: 'region' }).hide();
  readonly #title = $('<h4>');
  readonly #buttons: JQuery;
  readonly #uses = $('<div>').appendTo(this.element);
  readonly #controls: Controls;
  readonly #list = $('<dl>');
  readonly #recent: RecentList;
  #isShown = false;
  #key = '';
  readonly #tab: Tab;
  readonly #target: () => Target | undefined;

  /** @param onLeave Escape */
  constructor(tab: Tab, target: () => Target | undefined, onLeave: () => void) {
    this.#tab = tab;
    this.#recent = new RecentList(tab);
    this.#controls = new Controls(tab, target);
    this.#target = target;
    this.#buttons = this.#actionButtons();
    const head = $('<div>', { class: 'device-cloud-fleet-chosen' }).append(
      this.#title,
      this.#buttons,
    );
    this.element.prepend(head).append(this.#controls.element, this.#list, this.#recent.element);
    this.element.attr('aria-label', t('details'));
    this.element.on('keydown', (event) => {
      if (event.key !== 'Escape') return;
      event.stopPropagation();
      onLeave();
    });
  }

  show(device: Row | undefined, now: number): void {
    this.#isShown = device !== undefined;
    this.element.toggle(this.#isShown);
    if (!device) return;
    if (device.key !== this.#key) {
      this.#key = device.key;
      this.#uses.empty();
      this.#recent.clear();
      this.element[0]?.scrollTo(0, 0);
    }
    this.#controls.show(device.key, device.type);
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
    const bar = $('<div>', { class: 'device-cloud-fleet-actions', role: 'group' });
    bar.attr('aria-label', t('actions'));
    const add = (
      name: string,
      icon: string,
      needs: string | undefined,
      run: (target: Target, button: JQuery) => unknown,
    ): void => {
      const act = (button: JQuery): void => {
        const chosen = this.#target();
        if (chosen) run(chosen, button);
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
    add('find', 'search', undefined, (target) => {
      this.#uses.empty().append(usesOf(target));
      this.element[0]?.scrollTo(0, 0);
    });
    add('copy', 'clipboard', undefined, ({ chipid }, button) =>
      RED.clipboard.copyText(chipid, button, 'clipboard.copyMessageValue'),
    );
    add('listen', 'plus', 'flows.write', ({ app, inFlows = app, chipid }) =>
      insertListener(inFlows, chipid),
    );
    add('refresh', 'refresh', WRITE, (target) => command(this.#tab, target, 'refresh', {}));
    add('push', 'paper-plane', WRITE, (target) => askPush(this.#tab, target));
    add('book', 'pencil', undefined, (target) => editRow(this.#tab, target));
    return bar;
  }

  readRecent(device: Row): void {
    void this.#recent.read(device);
  }

  focus(): void {
    this.#buttons.find('button:enabled').first().trigger('focus');
  }
}
