import type { WaitingChoice } from '../app/answers.config';
import { appPath, getRoute, postRoute } from '../common/editor/routes';
import { clockText, plain, t } from '../common/editor/texts';
import {
  ask,
  linkButton,
  nodeName,
  notify,
  question,
  readProblem,
  Shown,
  smallButton,
  tried,
  WRITE,
  type View,
  type Tab,
} from './commands.editor';
import { createLine, fillLine, ROW_HEIGHTS, titleOf } from './row.editor';
import { VirtualList } from './virtual-list.editor';

type Which = { ids: string[] } | { chipid: string } | { all: true };

/** A command, with the application of its device. */
interface Waiting extends WaitingChoice {
  app: string;
}

async function cancel(tab: Tab, apps: readonly string[], which: Which): Promise<void> {
  await tried(t('failed.change'), async () => {
    let number = 0;
    for (const app of apps) {
      const answer: unknown = await postRoute(appPath(app, 'waiting', 'cancel'), which);
      number += (answer as { cancelled: number }).cancelled;
    }
    notify(t('done.cancel', { number }), 'success');
  });
  tab.readAgain();
}

/** A button that cancels several, which is asked about first. @param devices whose commands they are */
function cancelAll(
  tab: Tab,
  apps: readonly string[],
  which: Which,
  number: number,
  devices: string,
): JQuery {
  const words = t('waits.cancel-all', { number });
  const asked = question(t('waits.ask', { number, devices }));
  const run = (): void =>
    ask(asked, { no: t('waits.keep'), yes: words }, () => void cancel(tab, apps, which));
  return smallButton('times', words, t('waits.cancel-hint'), run, WRITE);
}

const whatText = ({ kind, pin, level }: WaitingChoice): string =>
  t(`command.${kind}`, { pin, level });

/** The node as a button that shows it. */
function nodeButton(id: string | undefined): JQuery {
  const name = nodeName(id);
  if (id === undefined || name === undefined) return $('<span>').text(t('waits.no-node'));
  return linkButton(name, () => RED.view.reveal(id));
}

/** The waiting commands of a device, for its details. */
export function waitingItems(commands: WaitingChoice[], app: string, tab: Tab): JQuery[] {
  const now = tab.now();
  const items = commands.map((command) => {
    const since = clockText(command.since, now);
    const until = clockText(command.until, now);
    const when = `${t(`waits.${command.when}`)}, ${t('waits.between', { since, until })}`;
    const run = (): void => void cancel(tab, [app], { ids: [command.id] });
    return $('<li>').append(
      $('<span>').text(whatText(command)),
      smallButton('times', RED._('common.label.cancel'), t('waits.cancel-hint'), run, WRITE),
      $('<small>').text(when),
      $('<small>').append(nodeButton(command.node)),
    );
  });
  const [first] = commands;
  if (!first || commands.length < 2) return items;
  const { chipid } = first;
  const device = deviceOf(tab, app, chipid);
  const all = cancelAll(tab, [app], { chipid }, commands.length, device);
  return [...items, $('<li>').append(all)];
}

function deviceOf(tab: Tab, app: string, chipid: string): string {
  return titleOf(tab.fleet.find(app, chipid) ?? { name: null, chipid }, tab.nameOf(app));
}

/** All commands that wait for their devices: each row cancels its own, and leads to the rest of what the device has. */
export class WaitingView implements View {
  readonly element = $('<section>', { class: 'device-cloud-fleet-view' });
  readonly #head = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #list: VirtualList<Waiting>;
  readonly #shown = new Shown();
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#list = new VirtualList<Waiting>(ROW_HEIGHTS.high, {
      key: ({ id, app }) => `${id}-${app}`,
      // The device, until when, and the command.
      create: () => createLine(3, this.#cancelButton()),
      fill: (row, command) => this.#fill(row, command),
      onOpen: ({ app, chipid }) => tab.showDevice(app, chipid),
    });
    this.#list.element.setAttribute('aria-label', t('view.waiting'));
    this.element.append(this.#head, this.#list.element);
  }

  read(): void {
    const { apps } = this.#tab;
    const read = async (app: string): Promise<Waiting[]> => {
      const commands = (await getRoute(appPath(app, 'waiting'))) as WaitingChoice[];
      return commands.map((command) => ({ ...command, app }));
    };
    Promise.all(apps.map(read)).then(
      (lists) => {
        if (apps === this.#tab.apps) this.#show(lists.flat());
      },
      (failure: unknown) => {
        if (apps !== this.#tab.apps) return;
        this.#list.show([]);
        const { reason, detail = '' } = readProblem(failure);
        if (!this.#shown.isNew(reason, detail)) return;
        this.#head.empty().append($('<span>', { title: detail }).text(reason));
      },
    );
  }

  #cancelButton(): JQuery {
    const hint = `${RED._('common.label.cancel')}\n${t('waits.cancel-hint')}`;
    const run = (button: JQuery): void => {
      const command = this.#list.itemAt(button[0] as HTMLElement);
      if (command) void cancel(this.#tab, [command.app], { ids: [command.id] });
    };
    return smallButton('times', '', hint, run, WRITE);
  }

  #show(commands: Waiting[]): void {
    this.#list.show(commands);
    if (!this.#shown.isNew(commands)) return;
    const number = commands.length;
    const apps = [...new Set(commands.map(({ app }) => app))];
    const devices = String(new Set(commands.map(({ app, chipid }) => `${app} ${chipid}`)).size);
    const text = number === 0 ? t('waits.none') : t('waits.number', { number, devices });
    this.#head
      .empty()
      .append(
        $('<span>', { role: 'status' }).text(text),
        number > 0 ? cancelAll(this.#tab, apps, { all: true }, number, devices) : '',
      );
  }

  #fill(row: HTMLElement, command: Waiting): void {
    const { app, chipid, node } = command;
    const until = t('waits.until', { until: clockText(command.until, this.#tab.now()) });
    const from = plain(nodeName(node) ?? t('waits.no-node'));
    fillLine(row, [deviceOf(this.#tab, app, chipid), until, `${whatText(command)} · ${from}`]);
  }
}
