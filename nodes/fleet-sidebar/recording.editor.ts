import type { TestRecording } from '../app/answers.config';
import { fieldValue } from '../common/editor/form';
import { appPath, postRoute, saveFile } from '../common/editor/routes';
import { ageText, clockText, t } from '../common/editor/texts';
import {
  labelled,
  mayCommand,
  notifyFailure,
  smallButton,
  type Tab,
  type View,
} from './commands.editor';

const DEVICES = ['all', 'shown', 'selected'] as const;

/** Records a test of the flows of an application, and downloads it. */
export class RecordingView implements View {
  readonly element = $('<section>', { class: 'device-cloud-fleet-view' });
  /** The button that shows this view: a red dot and the age of a recording that runs. */
  readonly label = $('<span>').text(t('view.recording'));
  readonly #state = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #form = $('<form>', { class: 'device-cloud-fleet-form', novalidate: true });
  readonly #devices = $('<select>', { id: 'device-cloud-fleet-record' });
  #recording: TestRecording | undefined;
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    const isAllowed = mayCommand() && RED.user.hasPermission('flows.read');
    const start = smallButton('circle', t('recording.start'), t('recording.hint'), () => void 0);
    start.attr('type', 'submit').addClass('device-cloud-fleet-start').prop('disabled', !isAllowed);
    if (!isAllowed) start.attr('title', t('recording.forbidden'));
    this.#form.append(...labelled(t('recording.devices'), this.#devices), start);
    this.#form.on('submit', (event) => {
      event.preventDefault();
      void this.#start();
    });
    this.#devices.on('focus', () => this.read());
    this.element.append(this.#state, this.#form);
    this.show(undefined);
  }

  /** Offers the devices that there are. */
  read(): void {
    const chosen = fieldValue(this.#devices) || 'all';
    const device = this.#tab.selected() ?? '';
    const numbers = {
      all: this.#tab.fleet.size,
      shown: this.#tab.shown().length,
      selected: device === '' ? 0 : 1,
    };
    const options = DEVICES.filter((name) => name === 'all' || numbers[name] > 0);
    const textOf = (name: (typeof DEVICES)[number]): string =>
      t(`recording.of.${name}`, { number: numbers[name], device });
    this.#devices
      .empty()
      .append(options.map((name) => $('<option>', { value: name, text: textOf(name) })));
    this.#devices.val(options.some((name) => name === chosen) ? chosen : 'all');
  }

  /** @param recording of the application; undefined: none */
  show(recording: TestRecording | undefined): void {
    this.#recording = recording;
    this.#state.empty().append($('<span>').text(t('recording.about')));
    if (recording) {
      const stop = t(recording.isOver ? 'recording.download' : 'recording.stop');
      const icon = recording.isOver ? 'download' : 'stop';
      const run = (): void => void this.#stop();
      this.#state.empty().append($('<span>'), smallButton(icon, stop, '', run, mayCommand()));
    }
    this.#form.toggle(recording?.isOver !== false);
    this.tick();
  }

  /** Called each second. */
  tick(): void {
    const now = this.#tab.now();
    const { since = now, uploads, isOver = true } = this.#recording ?? {};
    const age = ageText(since, now);
    // The button's text is read by itself only when the focus is on it.
    this.label.text(isOver ? t('view.recording') : age);
    this.label.parent().toggleClass('device-cloud-fleet-running', !isOver);
    if (!this.#recording) return;
    const text = isOver ? 'recording.over' : 'recording.running';
    this.#state
      .children('span')
      .toggleClass('device-cloud-fleet-running', !isOver)
      .text(t(text, { age, time: clockText(since, now), uploads }));
  }

  async #start(): Promise<void> {
    const selected = this.#tab.selected();
    const choices: Partial<Record<string, string[]>> = {
      shown: this.#tab.shown(),
      ...(selected !== undefined && { selected: [selected] }),
    };
    const chipids = choices[fieldValue(this.#devices)] ?? null;
    await this.#post({ action: 'start', chipids });
  }

  async #stop(): Promise<void> {
    const yaml = await this.#post({ action: 'stop' });
    if (typeof yaml === 'string')
      saveFile(new Blob([yaml], { type: 'text/yaml' }), 'recorded.yaml');
  }

  async #post(request: object): Promise<unknown> {
    try {
      return (await postRoute(appPath(this.#tab.app, 'record'), request)) as unknown;
    } catch (failure) {
      notifyFailure('failed.recording', failure);
      return undefined;
    } finally {
      this.#tab.readAgain();
    }
  }
}
