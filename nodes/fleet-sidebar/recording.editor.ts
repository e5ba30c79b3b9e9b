import type { RecordingAnswer, RecordingFile } from '../app/answers.config';
import { fieldValue } from '../common/editor/form';
import { appPath, getRoute, postRoute } from '../common/editor/routes';
import { ageText, clockText, localTime, plain, said, t } from '../common/editor/texts';
import {
  download,
  labelled,
  mayCommand,
  notifyFailure,
  readProblem,
  smallButton,
  type Tab,
  type View,
} from './commands.editor';

function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const [unit, number] = bytes < 1_000_000 ? ['kB', bytes / 1000] : ['MB', bytes / 1_000_000];
  return `${number.toFixed(number >= 10 ? 0 : 1)} ${unit}`;
}

/** Minutes that a recording may take. */
const MOST_MINUTES = 1440;

const DEVICES = ['all', 'shown', 'selected'] as const;

/** Begins and ends recordings of an application, and lists them. */
export class RecordingView implements View {
  readonly element = $('<section>', { class: 'device-cloud-fleet-view' });
  /** The button that shows this view: a red dot, size and age while something is recorded. */
  readonly label = $('<span>').text(t('view.recording'));
  readonly #state = $('<div>', { class: 'device-cloud-fleet-head' });
  readonly #form = $('<form>', { class: 'device-cloud-fleet-form', novalidate: true });
  readonly #devices = $('<select>', { id: 'device-cloud-fleet-record' });
  readonly #minutes = $('<input>', { type: 'number', id: 'device-cloud-fleet-minutes' });
  readonly #anonymous = $('<input>', { type: 'checkbox', id: 'device-cloud-fleet-anonymous' });
  readonly #files = $('<div>', { class: 'device-cloud-fleet-files' });
  #answer: RecordingAnswer | undefined;
  #app = '';
  #shown = '';
  readonly #tab: Tab;

  constructor(tab: Tab) {
    this.#tab = tab;
    this.#minutes.attr({ min: 1, max: MOST_MINUTES, placeholder: t('recording.unlimited') });
    this.#minutes.val('10');
    this.#form.append(
      ...labelled(t('recording.devices'), this.#devices),
      ...labelled(t('recording.minutes'), this.#minutes),
      $('<label>', { class: 'device-cloud-fleet-wide' }).append(
        this.#anonymous,
        ' ',
        document.createTextNode(t('recording.anonymous')),
      ),
      smallButton('circle', t('recording.start'), t('recording.hint'), () => void 0, mayCommand())
        .attr('type', 'submit')
        .addClass('device-cloud-fleet-start'),
    );
    this.#form.on('submit', (event) => {
      event.preventDefault();
      this.#start();
    });
    this.#devices.on('focus', () => this.#offerDevices());
    this.element.append(this.#state, this.#form, this.#files);
    this.#offerDevices();
  }

  get isRunning(): boolean {
    return this.#answer?.running != null;
  }

  read(): void {
    const { app } = this.#tab;
    if (app !== this.#app) {
      this.#app = app;
      this.#answer = undefined;
      this.#show();
    }
    if (app === '') return;
    this.#offerDevices();
    getRoute(this.#path).then(
      (body: unknown) => {
        if (app !== this.#tab.app) return;
        this.#answer = body as RecordingAnswer;
        this.#show();
      },
      (failure: unknown) => {
        if (app !== this.#tab.app) return;
        const { reason, detail = '' } = readProblem(failure);
        this.#state.empty().append($('<span>', { title: detail }).text(reason));
        this.#shown = '';
      },
    );
  }

  tick(): void {
    if (this.isRunning) this.#show();
  }

  get #path(): string {
    return appPath(this.#tab.app, 'recording');
  }

  #offerDevices(): void {
    const chosen = fieldValue(this.#devices) || 'all';
    const numbers = {
      all: this.#tab.fleet.size,
      shown: this.#tab.shown().length,
      selected: this.#tab.selected() === undefined ? 0 : 1,
    };
    const options = DEVICES.filter((name) => name === 'all' || numbers[name] > 0);
    const device = this.#tab.selected() ?? '';
    const textOf = (name: (typeof DEVICES)[number]): string =>
      t(`recording.of.${name}`, { number: numbers[name], device });
    this.#devices
      .empty()
      .append(options.map((name) => $('<option>', { value: name, text: textOf(name) })));
    this.#devices.val(options.some((name) => name === chosen) ? chosen : 'all');
  }

  #start(): void {
    const text = fieldValue(this.#minutes).trim();
    const input = this.#minutes[0] as HTMLInputElement;
    const minutes = text === '' ? null : Number(text);
    const isWrong =
      input.validity.badInput || (minutes !== null && !(minutes > 0 && minutes <= MOST_MINUTES));
    this.#minutes.toggleClass('input-error', isWrong).attr('aria-invalid', String(isWrong));
    this.#minutes.attr('title', isWrong ? t('recording.wrong-minutes') : '');
    if (isWrong) {
      this.#minutes.trigger('focus');
      return;
    }
    const selected = this.#tab.selected();
    const choices: Partial<Record<string, string[]>> = {
      shown: this.#tab.shown(),
      ...(selected !== undefined && { selected: [selected] }),
    };
    const chipids = choices[fieldValue(this.#devices)] ?? null;
    const anonymous = this.#anonymous.prop('checked') === true;
    void this.#act({ action: 'start', minutes, chipids, anonymous });
  }

  async #act(request: object): Promise<void> {
    try {
      await postRoute(this.#path, request);
    } catch (failure) {
      notifyFailure('failed.recording', failure);
    }
    this.read();
  }

  #show(): void {
    const { running, recordings = [], last, problem } = this.#answer ?? {};
    const now = this.#tab.now();
    const size = running ? sizeText(running.bytes) : '';
    const age = running ? ageText(running.since, now) : '';
    // The button's text is read by itself only when the focus is on it.
    this.label.text(running ? `${size} · ${age}` : t('view.recording'));
    this.label.parent().toggleClass('device-cloud-fleet-running', this.isRunning);
    this.#form.toggle(!running && problem === undefined);
    const shown = JSON.stringify([this.#app, running, age, recordings, last, problem]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#state.empty();
    if (running) {
      const until = clockText(running.until, now);
      const values = { age, until, size, uploads: running.uploads };
      const stop = (): void => void this.#act({ action: 'stop' });
      this.#state.append(
        $('<span>', { class: 'device-cloud-fleet-running' }).text(t('recording.running', values)),
        smallButton('stop', t('recording.stop'), '', stop, mayCommand()),
      );
    } else {
      // As text, always: a problem may quote anything.
      this.#state.append($('<span>').text(plain(problem ?? this.#lastText(last))));
    }
    this.#files
      .empty()
      .append(
        $('<h5>').text(t('recording.files')),
        recordings.length > 0
          ? $('<ol>').append(recordings.map((file) => this.#item(file)))
          : $('<p>').text(t('recording.none')),
      );
  }

  #lastText(last: RecordingAnswer['last'] | undefined): string {
    if (!last) return t('recording.about');
    const { reason, uploads, dropped, problem = '' } = last;
    const ended = t(`recording.ended.${reason}`, { uploads });
    const lost = dropped > 0 ? ` ${t('recording.dropped', { dropped })}` : '';
    return `${problem === '' ? ended : said(ended, problem)}${lost}`;
  }

  #item({ name, bytes, at }: RecordingFile): JQuery {
    const path = appPath(this.#app, 'recordings', name);
    const save = (): void => void download(path, name);
    const test = (): void => void download(`${path}?as=test`, name.replace(/\.jsonl$/, '.yaml'));
    return $('<li>').append(
      $('<span>', { title: name }).text(localTime(at)),
      $('<small>').text(sizeText(bytes)),
      smallButton('download', t('recording.download'), name, save),
      smallButton('check-square-o', t('recording.test'), t('recording.test-hint'), test),
    );
  }
}
