import { elapsed, said, t } from '../common/editor/texts';
import { type Problem } from '../common/editor/routes';
import { fieldValue } from '../common/editor/rows';
import { BookView } from './book.editor';
import { Details } from './details.editor';
import type { AppChoice, FleetAnswer } from '../app/answers.config';
import { readProblem, type Tab, type View } from './commands.editor';
import {
  applicationName,
  countStates,
  Feed,
  Fleet,
  matching,
  ORDERS,
  readApplications,
  STATES,
  type Row,
  type State,
} from './fleet.editor';
import { ProblemsView } from './problems.editor';
import { RecordingView } from './recording.editor';
import { createRow, fillRow, ROW_HEIGHTS, withApp } from './row.editor';
import { VirtualList } from './virtual-list.editor';
import { WaitingView } from './waiting.editor';

/** A labelled control, whose label only assistive technology shows. */
const control = (tag: string, id: string, attributes: object = {}): JQuery =>
  $(tag, { id: `device-cloud-fleet-${id}`, 'aria-label': t(`filter.${id}`), ...attributes });

/** A tab that is lower, in pixels, as one half of the sidebar of Node-RED 5, has rows of one line. */
const LOW = 460;

/** The choice of all applications at once. */
const ALL = 'all';

/** The tab: an application, or all, and the devices, or another view in their place. */
class Panel implements Tab {
  readonly element = $('<div>', { class: 'device-cloud-fleet', 'data-view': 'devices' });
  /** Buttons for the foot of the tab, which choose what it shows. */
  readonly switches = $('<span>', { class: 'device-cloud-fleet-views', role: 'group' });
  readonly fleet = new Fleet();
  readonly #app = control('<select>', 'app');
  readonly #text = control('<input>', 'text', { type: 'text', placeholder: t('filter.text') });
  readonly #state = control('<select>', 'state');
  readonly #order = control('<select>', 'order');
  readonly #note = $('<div>', { class: 'device-cloud-fleet-note' });
  /** How many uploads wait for an acknowledgement. */
  readonly #unacknowledged = $('<div>', { class: 'device-cloud-fleet-unacknowledged' });
  readonly #cluster = $('<div>', { class: 'device-cloud-fleet-unacknowledged' });
  /** Of the note, what a screen reader says by itself: not each change of a number. */
  readonly #spoken = $('<div>', { class: 'device-cloud-fleet-spoken', role: 'status' });
  readonly #list: VirtualList<Row>;
  readonly #details: Details;
  readonly #recording: RecordingView;
  readonly #problems: ProblemsView;
  readonly #views: Record<string, View | undefined>;
  /** Of each application that is shown. */
  #feeds = new Map<string, Feed>();
  #known: AppChoice[] | undefined;
  #chosen = '';
  /** What a user has chosen. It is taken again once it is there: during a deploy an application is missing for a moment. */
  #wanted = '';
  #apps: readonly string[] = [];
  #view = 'devices';
  #rows: Row[] = [];
  #selected: string | undefined;
  /** Why the applications cannot be read, or some of them, by their ids. */
  readonly #failures = new Map<string, Problem>();
  /** The next note is the answer to something that the user has done. */
  #isAsked = true;
  #ahead = 0;
  #ticking = 0;

  constructor() {
    this.#details = new Details(this, () => this.#list.element.focus());
    this.#list = new VirtualList<Row>(ROW_HEIGHTS.high, {
      key: ({ key }) => key,
      create: createRow,
      fill: (row, device) => fillRow(row, device, this.now(), this.nameOf(device.app)),
      onSelect: (key) => {
        this.#selected = key;
        this.#showDetails();
        this.#readRecent();
      },
      onOpen: () => this.#details.focus(),
    });
    this.#list.element.setAttribute('aria-label', t('view.devices'));
    for (const state of Object.keys(STATES)) $('<option>', { value: state }).appendTo(this.#state);
    for (const order of Object.keys(ORDERS))
      $('<option>', { value: order })
        .text(t(`order.${order}`))
        .appendTo(this.#order);
    const filters = $('<div>', { class: 'device-cloud-fleet-filters' });
    filters.append(this.#app, this.#text, this.#state, this.#order);
    this.element.append(filters, this.#note, this.#unacknowledged, this.#cluster, this.#spoken);
    this.element.append(this.#list.element, this.#details.element);
    this.#recording = new RecordingView(this);
    this.#problems = new ProblemsView(this);
    this.#views = {
      problems: this.#problems,
      waiting: new WaitingView(this),
      recording: this.#recording,
      book: new BookView(this),
    };
    this.#addViews();
    this.#app.on('change', () => this.choose(fieldValue(this.#app)));
    for (const each of [this.#text, this.#state, this.#order])
      each.on('input', () => this.#filter());
    const resized = new ResizeObserver(() => this.#fit());
    for (const element of this.element.toArray()) resized.observe(element);
    this.#show();
  }

  /** Called when the tab is shown. */
  async open(): Promise<void> {
    if (this.#ticking !== 0) return;
    this.#ticking = window.setInterval(() => this.#tick(), 1000);
    await this.refresh();
  }

  /** Called when the tab is hidden: nothing is requested from then on. */
  close(): void {
    clearInterval(this.#ticking);
    this.#ticking = 0;
    for (const feed of this.#feeds.values()) feed.hide();
  }

  /** Reads everything now, if the tab is shown. */
  async refresh(): Promise<void> {
    if (this.#ticking === 0) return;
    try {
      this.#known = await readApplications();
      this.#failures.delete('');
      this.#showApps(this.#known);
    } catch (failure) {
      this.#fail('', failure);
    }
    // Not before: an application may be gone.
    if (this.#ticking !== 0) this.readAgain();
  }

  get app(): string {
    return this.#chosen === ALL ? '' : this.#chosen;
  }

  get apps(): readonly string[] {
    return this.#apps;
  }

  nameOf(app: string): string {
    const choice = this.#chosen === ALL ? this.#known?.find(({ id }) => id === app) : undefined;
    return choice ? applicationName(choice) : '';
  }

  inFlows(app: string): string {
    return this.#known?.find(({ id }) => id === app)?.template ?? app;
  }

  now(): number {
    return Date.now() + this.#ahead;
  }

  showDevice(app: string, chipid: string): void {
    this.showView('devices');
    this.#text.val('');
    this.#state.val('all');
    this.#filter();
    this.#list.go(this.fleet.find(app, chipid)?.key ?? '');
    this.#details.focus();
  }

  shown(): Row[] {
    return this.#rows;
  }

  readAgain(): void {
    for (const feed of this.#feeds.values()) feed.resume();
  }

  #addViews(): void {
    this.switches.attr('aria-label', t('palette.label.device_cloud'));
    for (const name of ['devices', ...Object.keys(this.#views)]) {
      const view = this.#views[name];
      if (view) this.element.append(view.element.hide());
      const button = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
      const label = view?.label ?? $('<span>').text(t(`view.${name}`));
      button.attr('data-view', name).append(label);
      button.on('click', () => this.showView(name)).appendTo(this.switches);
    }
    this.showView('devices');
  }

  showView(name: string): void {
    this.#view = name;
    this.element.attr('data-view', name);
    for (const button of this.switches.children().toArray()) {
      const isChosen = button.dataset['view'] === name;
      $(button).toggleClass('selected', isChosen).attr('aria-pressed', String(isChosen));
    }
    for (const [each, view] of Object.entries(this.#views)) view?.element.toggle(each === name);
    if (this.#ticking !== 0) this.#views[name]?.read();
  }

  #onAnswer(app: string, answer: FleetAnswer, ahead: number): void {
    this.#ahead = ahead;
    this.#failures.delete(app);
    this.fleet.apply(app, answer);
    this.#show();
    this.#readRecent();
    if (this.#ticking !== 0) this.#views[this.#view]?.read();
  }

  #fail(app: string, failure: unknown): void {
    this.#failures.set(app, readProblem(failure));
    this.#show();
  }

  #showApps(apps: AppChoice[]): void {
    const option = (value: string, text: string): JQuery => $('<option>', { value }).text(text);
    this.#app
      .empty()
      .append(
        apps.length > 1 ? option(ALL, t('all-apps')) : '',
        apps.map((app) => option(app.id, applicationName(app))),
      )
      .prop('disabled', apps.length === 0);
    // After a deploy the same application may be another one.
    const ids = apps.map(({ id }) => id);
    const isThere = (app: string): boolean => (app === ALL ? ids.length > 1 : ids.includes(app));
    const usual = apps.find(({ devices }) => devices > 0)?.id ?? ids[0] ?? '';
    const next = [this.#wanted, this.#chosen].find(isThere) ?? usual;
    if (next !== this.#chosen || (next === ALL && String(ids) !== String(this.#apps)))
      this.#take(next);
    this.#app.val(this.#chosen);
    this.element.toggleClass('device-cloud-fleet-single', apps.length === 1);
    this.#show();
  }

  #filter(): void {
    this.#isAsked = true;
    this.#list.element.scrollTop = 0;
    this.#show();
  }

  choose(app: string): void {
    this.#wanted = app;
    this.#take(app);
  }

  #take(app: string): void {
    for (const feed of this.#feeds.values()) feed.hide();
    this.#chosen = app;
    this.#app.val(app);
    this.#apps = app === ALL ? (this.#known ?? []).map(({ id }) => id) : app === '' ? [] : [app];
    this.#isAsked = true;
    this.fleet.clear();
    this.#failures.clear();
    this.#list.select(undefined);
    const feedOf = (id: string): Feed =>
      new Feed(
        id,
        (answer, ahead) => this.#onAnswer(id, answer, ahead),
        (failure) => this.#fail(id, failure),
      );
    this.#feeds = new Map(this.#apps.map((id) => [id, feedOf(id)]));
    if (this.#ticking !== 0) this.readAgain();
    this.#show();
  }

  get #device(): Row | undefined {
    return this.#selected === undefined ? undefined : this.fleet.get(this.#selected);
  }

  #tick(): void {
    this.#list.render();
    this.#showDetails();
    this.#showUnacknowledged();
    this.#recording.read();
  }

  /** Where the tab is low, there is room for little: the list keeps five rows all the same, or three below two lines of filters. */
  #fit(): void {
    const height = this.element[0]?.clientHeight ?? 0;
    if (height === 0) return;
    this.element.toggleClass('device-cloud-fleet-low', height < LOW);
    this.#list.resize(height < LOW ? ROW_HEIGHTS.low : ROW_HEIGHTS.high);
  }

  #readRecent(): void {
    if (this.#device && this.#ticking !== 0) this.#details.readRecent(this.#device);
  }

  #showDetails(): void {
    this.#details.show(this.#device, this.now());
  }

  #show(): void {
    const rows = this.fleet.rows();
    const now = this.now();
    const state = fieldValue(this.#state) as State;
    const order = fieldValue(this.#order) as keyof typeof ORDERS;
    const shown = ORDERS[order](matching(rows, fieldValue(this.#text), state, now));
    this.#rows = shown;
    const counts = countStates(rows, now);
    for (const option of this.#state.children().toArray() as HTMLOptionElement[])
      option.text = t(`state.${option.value}`, { number: counts[option.value as State] });
    this.#list.show(shown);
    this.#showDetails();
    this.#say(shown.length, counts.online);
    this.#showUnacknowledged();
    this.#problems.read();
    this.#recording.read();
  }

  #showUnacknowledged(): void {
    const { count, since } = this.fleet.unacknowledged();
    const text =
      count === 0 ? '' : t('unacknowledged', { number: count, age: elapsed(since, this.now()) });
    this.#unacknowledged.text(text).toggle(text !== '');
    const clusters = this.fleet
      .clusters()
      .map(({ app, cluster: { state, owned, others } }) =>
        withApp(t(`cluster.${state}`, { owned, others }), this.nameOf(app)),
      );
    this.#cluster.text(clusters.join(' ')).toggle(clusters.length > 0);
  }

  /** Shows the number of devices, or what to do where no device is known. */
  #say(shown: number, online: number): void {
    const { size } = this.fleet;
    const [problem] = this.#failures.values();
    const isLoaded = this.#apps.every((id) => this.fleet.apps.has(id));
    const text = (): string => {
      if (problem) return said(t('common.picker.unlisted'), problem.reason);
      if (this.#known?.length === 0) return t('empty.apps');
      if (this.#apps.length === 0 || !isLoaded) return t('loading');
      if (size === 0) return t('empty.devices');
      if (shown === 0) return t('empty.filter');
      return t('shown', { shown, size, online });
    };
    const isEmpty = shown === 0 || problem !== undefined;
    const note = text();
    this.#note.toggleClass('device-cloud-fleet-empty', isEmpty);
    if (this.#note.text() !== note) this.#note.text(note);
    this.#note.attr('title', problem?.detail ?? '');
    if ((isEmpty || this.#isAsked) && this.#spoken.text() !== note) this.#spoken.text(note);
    // The answer for the chosen application is still pending.
    this.#isAsked &&= !isLoaded && !problem;
  }
}

/** Notifies a panel of its visibility: in the selected tab, in an open sidebar, on a visible page. */
function watchVisibility(panel: Panel): void {
  const element = panel.element[0];
  if (!element) return;
  let isShown = false;
  const judge = (): void => {
    if (isShown && !document.hidden) void panel.open();
    else panel.close();
  };
  new IntersectionObserver((entries) => {
    isShown = entries.at(-1)?.isIntersecting ?? false;
    judge();
  }).observe(element);
  document.addEventListener('visibilitychange', judge);
}

RED.plugins.registerPlugin('device-cloud-fleet-sidebar', {
  onadd() {
    const panel = new Panel();
    RED.sidebar.addTab({
      id: 'device-cloud-fleet',
      label: t('palette.label.device_cloud'),
      name: t('palette.label.device_cloud'),
      iconClass: 'fa fa-cloud',
      content: panel.element,
      toolbar: $('<div>').append(panel.switches),
    });
    const refresh = (): void => void panel.refresh();
    RED.events.on('deploy', refresh);
    // By another user, in another browser.
    RED.comms.subscribe('notification/runtime-deploy', refresh);
    // Node-RED is back, or a user has logged in again.
    RED.comms.on('connect', refresh);
    watchVisibility(panel);
  },
});
