import type { WaitingChoice } from '../app/answers.config';
import { appPath, getRoute, postRoute } from '../common/editor/routes';
import { clockText, localTime, plain, t } from '../common/editor/texts';
import {
  ask,
  linkButton,
  mayCommand,
  notify,
  notifyFailure,
  question,
  readProblem,
  smallButton,
  type Tab,
  type View,
} from './commands.editor';
import { createLine, fillLine, nameOf, ROW_HEIGHTS } from './row.editor';
import { VirtualList } from './virtual-list.editor';

type Which = { ids: string[] } | { chipid: string } | { all: true };

async function cancel(tab: Tab, which: Which): Promise<void> {
  try {
    const answer: unknown = await postRoute(appPath(tab.app, 'waiting', 'cancel'), which);
    const { cancelled } = answer as { cancelled: number };
    const done = cancelled === 1 ? 'done.cancel-one' : 'done.cancel';
    notify(t(done, { number: cancelled }), 'success');
  } catch (failure) {
    notifyFailure('failed.cancel', failure);
  }
  tab.readAgain();
}

/** A button that cancels some; all of a device and all of an application are asked about first. */
function cancelButton(tab: Tab, words: string, which: Which, asked?: string): JQuery {
  const hint = t('waits.cancel-hint');
  const run = (): void => {
    if (asked === undefined) void cancel(tab, which);
    else ask(question(asked), { no: t('waits.keep'), yes: words }, () => void cancel(tab, which));
  };
  return smallButton('times', words, hint, run, mayCommand());
}

const whatText = ({ kind, pin, level }: WaitingChoice): string =>
  t(`command.${kind}`, { pin, level });

/** The name of the node that a command came from; undefined if it is not in the editor. */
function nodeName(id: string | undefined): string | undefined {
  const node = id === undefined ? undefined : RED.nodes.node(id);
  return node ? RED.utils.getNodeLabel(node, node.type) : undefined;
}

/** The node as a button that shows it. */
function nodeButton(id: string | undefined): JQuery {
  const name = nodeName(id);
  if (id === undefined || name === undefined) return $('<span>').text(t('waits.no-node'));
  return linkButton(name, () => RED.view.reveal(id), t('waits.show-node'));
}

const cancelAllOf = (tab: Tab, chipid: string, name: string, number: number): JQuery =>
  cancelButton(
    tab,
    t('waits.cancel-device', { number }),
    { chipid },
    t('waits.ask-device', { number, device: name }),
  );

/** The waiting commands of a device, for its details. */
export function waitingItems(commands: WaitingChoice[], tab: Tab): JQuery[] {
  const now = tab.now();
  const items = commands.map((command) => {
    const [since, until] = [clockText(command.since, now), clockText(command.until, now)];
    const when = `${t(`waits.${command.when}`)}, ${t('waits.between', { since, until })}`;
    return $('<li>').append(
      $('<span>').text(whatText(command)),
      cancelButton(tab, t('waits.cancel'), { ids: [command.id] }),
      $('<small>').text(when),
      $('<small>').append(nodeButton(command.node)),
    );
  });
  const [first] = commands;
  if (!first || commands.length < 2) return items;
  const device = tab.fleet.get(first.chipid);
  const name = device ? nameOf(device) : first.chipid;
  return [...items, $('<li>').append(cancelAllOf(tab, first.chipid, name, commands.length))];
}

/** All commands of an application that wait for their devices. */
export class WaitingView implements View {
  readonly element = $('<section>', { class: 'device-cloud-fleet-view' });
  readonly #head = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #chosen = $('<div>', { class: 'device-cloud-fleet-bar' }).hide();
  readonly #list: VirtualList<WaitingChoice>;
  #commands: WaitingChoice[] = [];
  #shown = '';
  #selected: string | undefined;
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#list = new VirtualList<WaitingChoice>(ROW_HEIGHTS.high, {
      key: ({ id }) => id,
      // The device, until when, and the command.
      create: () => createLine(3),
      fill: (row, command) => this.#fill(row, command),
      onSelect: (id) => {
        this.#selected = id;
        this.#showChosen();
      },
      onOpen: () => void this.#chosen.find('button:enabled').first().trigger('focus'),
    });
    this.#list.element.setAttribute('aria-label', t('view.waiting'));
    this.#chosen.on('keydown', (event) => {
      if (event.key === 'Escape') this.#list.element.focus();
    });
    this.element.append(this.#head, this.#list.element, this.#chosen);
  }

  read(): void {
    const { app } = this.#tab;
    if (app === '') this.#show([], '');
    else
      getRoute(appPath(app, 'waiting')).then(
        (body: unknown) => {
          if (app === this.#tab.app)
            this.#show((body as { commands: WaitingChoice[] }).commands, app);
        },
        (failure: unknown) => this.#fail(app, failure),
      );
  }

  #fail(app: string, failure: unknown): void {
    if (app !== this.#tab.app) return;
    this.#show([], '');
    const { reason, detail = '' } = readProblem(failure);
    this.#head.empty().append($('<span>', { title: detail }).text(reason));
  }

  #show(commands: WaitingChoice[], app: string): void {
    const shown = JSON.stringify([app, commands]);
    this.#commands = commands;
    this.#list.show(commands);
    // What has the focus keeps it, unless it changes.
    if (shown === this.#shown) return;
    this.#shown = shown;
    const number = commands.length;
    const devices = new Set(commands.map(({ chipid }) => chipid)).size;
    const text =
      number === 0
        ? t('waits.none')
        : t(number === 1 ? 'waits.one' : 'waits.number', { number, devices });
    const all = t('waits.cancel-all', { number });
    const asked = t('waits.ask-all', { number, devices });
    this.#head
      .empty()
      .append(
        $('<span>', { role: 'status' }).text(text),
        number > 0 ? cancelButton(this.#tab, all, { all: true }, asked) : '',
      );
    if (!commands.some(({ id }) => id === this.#selected)) this.#list.select(undefined);
    this.#showChosen();
  }

  #deviceOf(chipid: string): string {
    const device = this.#tab.fleet.get(chipid);
    return device ? nameOf(device) : chipid;
  }

  #fill(row: HTMLElement, command: WaitingChoice): void {
    const node = plain(nodeName(command.node) ?? '');
    const until = t('waits.until', { until: clockText(command.until, this.#tab.now()) });
    const what = [whatText(command), node].filter(Boolean).join(' · ');
    fillLine(row, [this.#deviceOf(command.chipid), until, what]);
  }

  #showChosen(): void {
    const command = this.#commands.find(({ id }) => id === this.#selected);
    this.#chosen.toggle(command !== undefined).empty();
    if (!command) return;
    const { chipid, id, since, until, when, node } = command;
    const device = this.#deviceOf(chipid);
    const number = this.#commands.filter((one) => one.chipid === chipid).length;
    const line = (label: string, value: JQuery | string): JQuery[] => [
      $('<dt>').text(t(`waits.field.${label}`)),
      $('<dd>').append(typeof value === 'string' ? document.createTextNode(value) : value),
    ];
    this.#chosen.append(
      $('<div>', { class: 'device-cloud-fleet-actions' }).append(
        cancelButton(this.#tab, t('waits.cancel'), { ids: [id] }),
        number > 1 ? cancelAllOf(this.#tab, chipid, device, number) : '',
      ),
      $('<dl>').append(
        ...line(
          'device',
          linkButton(device, () => this.#tab.showDevice(chipid)),
        ),
        ...line('what', whatText(command)),
        ...line('since', localTime(since)),
        ...line('until', localTime(until)),
        ...line('when', t(`waits.${when}`)),
        ...line('node', nodeButton(node)),
      ),
    );
  }
}
