import { appPath, postRoute, saveFile } from '../common/editor/routes';
import { ageText, clockText, elapsed, t } from '../common/editor/texts';
import { smallButton, tried, WRITE, type View, type Tab } from './commands.editor';

/** Records a test of the flows with the devices that the list shows, and downloads it. */
export class RecordingView implements View {
  readonly element = $('<section>', { class: 'device-cloud-fleet-view' });
  /** The button that shows this view: a red dot and the age of a recording that runs. */
  readonly label = $('<span>');
  readonly #text = $('<span>');
  readonly #start: JQuery;
  readonly #stop: JQuery;
  readonly #download: JQuery;
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    const button = (icon: string, name: string, run: () => Promise<void>): JQuery => {
      const words = t(`recording.${name}`);
      return smallButton(icon, words, '', () => void run(), WRITE, 'flows.read');
    };
    this.#start = button('circle', 'start', () => this.#record());
    this.#stop = button('stop', 'stop', () => this.#save());
    this.#download = button('download', 'download', () => this.#save());
    const head = $('<div>', { class: 'device-cloud-fleet-head' });
    this.element.append(head.append(this.#text, this.#stop, this.#download, this.#start));
  }

  /** Also called each second. */
  read(): void {
    const recording = this.#tab.fleet.apps.get(this.#tab.app)?.recording;
    this.#start.toggle(this.#tab.app !== '' && recording?.isOver !== false);
    this.#stop.toggle(recording?.isOver === false);
    this.#download.toggle(recording?.isOver === true);
    const now = this.#tab.now();
    const { since = now, uploads, isOver = true } = recording ?? {};
    const age = ageText(since, now);
    // The button's text is read by itself only when the focus is on it.
    this.label.text(isOver ? t('view.recording') : elapsed(since, now));
    this.label.parent().toggleClass('device-cloud-fleet-running', !isOver);
    const devices = this.#tab.shown().length;
    const text = recording ? (isOver ? 'over' : 'running') : 'about';
    const words = { age, time: clockText(since, now), uploads, devices };
    this.#text
      .toggleClass('device-cloud-fleet-running', !isOver)
      .text(this.#tab.app === '' ? t('choose-one') : t(`recording.${text}`, words));
  }

  async #record(): Promise<void> {
    const shown = this.#tab.shown().map(({ chipid }) => chipid);
    const chipids = shown.length < this.#tab.fleet.size ? shown : null;
    await this.#post({ action: 'start', chipids });
  }

  #save(): Promise<void> {
    return this.#post({ action: 'stop' }, (yaml) =>
      saveFile(new Blob([String(yaml)], { type: 'text/yaml' }), 'recorded.yaml'),
    );
  }

  async #post(request: object, use?: (answer: unknown) => void): Promise<void> {
    await tried(t('view.recording'), async () => {
      const answer: unknown = await postRoute(appPath(this.#tab.app, 'record'), request);
      use?.(answer);
    });
    this.#tab.readAgain();
  }
}
