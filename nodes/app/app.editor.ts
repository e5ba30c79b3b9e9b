import type { EditorNode } from '../common/editor/red';
import { showRows, type ResultRow } from '../common/editor/result-rows';
import { detailOf, explainFailure, postRoute, statusText } from '../common/editor/routes';
import * as rows from '../common/editor/rows';
import { said, t } from '../common/editor/texts';
import type { ApiResult, Cause, KeyWarning, TestResult } from './answers.config';
import {
  AUTO_ZONE,
  CLUSTER_TYPE,
  isVariable,
  readText,
  type APP_TYPE,
} from '../common/shared.config';
import {
  CREATE_BOOK,
  CHOICES,
  DEFAULTS,
  isOutside,
  LIMITS,
  ZONE,
  type AppConfig,
  type AppCredentials,
} from './app.config';

/** The simulator needs no address and no key. */
const isCloud = (node: EditorNode<Pick<AppConfig, 'service'>>): boolean =>
  rows.current(node, 'service') !== 'simulator';

/** Scheme, host and port, by the rules of the library's `parseBaseUrl`. */
function baseUrlError(value: string): string | undefined {
  const text = value.trim();
  if (text === '') return t('common.error.blank');
  if (/\$[{(]\w+[)}]/.test(text)) return t('error.url-variable');
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') return t('error.url');
  const isMore = url.username !== '' || url.password !== '' || /[?#]/.test(text);
  return isMore || url.pathname !== '/' ? t('error.origin') : undefined;
}

/** Required unless only the server API is used, which only the form shows. */
function appidError(value: string): string | undefined {
  if (value === '') {
    const serverKey = $('#node-config-input-serverKey');
    const nothing = serverKey.length > 0 && rows.fieldValue(serverKey) === '';
    return nothing ? t('error.no-account') : undefined;
  }
  if (/^[0-9]{1,20}$/.test(value)) return undefined;
  // They look alike: a Chinese input method types these.
  return /[０-９]/.test(value) ? t('error.full-width') : t('error.appid');
}

/** Comes with an App ID; both are missing where neither they nor the server API's key are given. */
const appkeyError = (appid: string, appkey: string): string | undefined =>
  pairError(appid, appkey) ?? (appid === '' ? appidError('') : undefined);

function zoneError(value: string): string | undefined {
  return value === AUTO_ZONE || ZONE.test(value) ? undefined : t('error.zone');
}

/** `auto`, `position`, or different pins, by the rules of the library's `parsePins`. */
function pinsError(value: string): string | undefined {
  if (value === 'auto' || value === 'position') return undefined;
  const pins = value.split(',').map((pin) => pin.trim());
  const isList =
    pins.length <= 256 && pins.every((pin) => /^0*[0-9]{1,3}$/.test(pin) && pin.length <= 9);
  return isList && new Set(pins.map(Number)).size === pins.length ? undefined : t('error.pins');
}

/** What is outside of the user directory needs an absolute path. */
const bookError = (path: string): string | undefined =>
  isOutside(path.trim()) ? t('error.book') : undefined;

/** A key and its secret come together or not at all. */
function pairError(id: string, secret: string): string | undefined {
  if (id !== '' && secret === '') return t('error.secret');
  return id === '' && secret !== '' ? t('error.secret-alone') : undefined;
}

/** Finds invalid settings in the form, before they are tried. */
function invalidSettings(): [setting: string, error: string][] {
  const found: [property: string, error: string | undefined][] = [
    ['baseUrl', isVariable(typed('baseUrl')) ? undefined : baseUrlError(typed('baseUrl'))],
    ['appid', isVariable(typed('appid')) ? undefined : appidError(typed('appid'))],
    ['appkey', appkeyError(typed('appid'), typed('appkey'))],
    ['serverPassword', pairError(typed('serverKey'), typed('serverPassword'))],
  ];
  return found.flatMap(([property, error]) =>
    error === undefined ? [] : [[t(`label.${property}`), error]],
  );
}

/** The server API refuses a larger difference, in seconds (section 5.1). */
const CLOCK_LIMIT = 7200;
/** A smaller difference, in seconds, may be the round trip. */
const CLOCK_NOISE = 5;

const host = (baseUrl: string): string => (URL.canParse(baseUrl) ? new URL(baseUrl).host : baseUrl);

const row = (icon: string, text: string): ResultRow => ({ icon: `fa-${icon}`, text });

/** What looks wrong about a key, in the reader's language. */
const warningText = ({ code, message, setting, where }: KeyWarning): string =>
  t(`test.where.${where}`, {
    setting: t(`label.${setting}`),
    fault: t(`test.fault.${code}`),
    defaultValue: message,
  });

function causeText(name: string, cause: Cause, { clockSkew }: ApiResult): string {
  if (cause === 'key') return t(name === 'test.server' ? 'test.cause.password' : 'test.cause.key');
  if (cause !== 'clock') return t(`test.cause.${cause}`);
  const seconds = Math.round(Math.abs(clockSkew ?? 0) / 1000);
  if (seconds < CLOCK_NOISE) return t('test.cause.clock');
  return t('test.cause.off', { seconds });
}

/**
 * Says why in the reader's language. A wrong appid may be 401 or 404 (section 7); 404 of the server API may as well be
 * another address.
 */
function reasonOf(name: string, outcome: ApiResult, at: string): string {
  const { code = '', problem, reason, settings = [], causes = [], dialect } = outcome;
  const names = settings.map((name) => t(`label.${name}`)).join(', ');
  if (reason !== undefined) return t(`test.reason.${reason}`, { settings: names });
  if (problem !== undefined) return t(`test.problem.${problem}`, { host: at });
  const [cause] = causes;
  if (cause !== undefined) {
    // The public server of 2016 says which of the two it is.
    const isSaid = dialect === 'public' && (cause === 'appid' || cause === 'clock');
    const text = causeText(name, cause, outcome);
    return t(isSaid ? 'test.refused-for' : 'test.refused', { cause: text });
  }
  return [statusText(code) || t('status.error'), at].filter(Boolean).join(' · ');
}

function failed(name: string, outcome: ApiResult, baseUrl: string): ResultRow {
  const { code = '', message, signing, reason } = outcome;
  const shown = row('times', said(t(name), reasonOf(name, outcome, host(baseUrl))));
  if (reason !== undefined || message === undefined) return shown;
  return { ...shown, detail: detailOf(code, message), ...(signing && { signing }) };
}

function channelRows(channel: TestResult['channel']): ResultRow[] {
  if (!channel) return [];
  const found = (icon: string, key: string, values?: Record<string, string>): ResultRow[] => [
    row(icon, said(t('test.channel'), t(`test.channels.${key}`, values))),
  ];
  if (channel.ok === null) return found('minus', channel.why);
  const { chipid } = channel;
  if (channel.ok) return found('check', channel.open ? 'open' : 'connected', { chipid });
  return found('times', 'failed', { chipid, reason: channel.reason });
}

/** @param hasLimit whether the server API is used, which has one */
function clockRow(skew: number, hasLimit: boolean): ResultRow {
  const off = Math.round(Math.abs(skew) / 1000);
  if (off < CLOCK_NOISE) return row('check', t('test.clock-right'));
  const key = hasLimit && off > CLOCK_LIMIT ? 'test.clock-wrong' : 'test.clock-off';
  return row('warning', t(key, { seconds: off }));
}

/** @param hasKey whether a key is given */
function apiRows(
  name: 'test.open' | 'test.server',
  outcome: ApiResult | null,
  baseUrl: string,
  hasKey: boolean,
): ResultRow[] {
  if (!outcome) return [row('minus', said(t(name), t(hasKey ? 'test.skipped' : 'test.untried')))];
  const info = (key: string, values?: object): ResultRow =>
    row('info-circle', t(key, { ...values }));
  const { ok, dialect, warnings = [], causes: [cause, ...others] = [] } = outcome;
  const dialects = dialect ? [info(`test.dialect.${dialect}`)] : [];
  if (!ok) {
    const causes = others.map((other) => causeText(name, other, outcome)).join('; ');
    const looks = warnings.map((each) => row('times', said(t(name), warningText(each))));
    const shown = [failed(name, outcome, baseUrl)];
    return [
      // What looks wrong about a key comes first where it is the likeliest cause.
      ...(cause === 'blank' || cause === undefined ? [...looks, ...shown] : [...shown, ...looks]),
      ...(causes === '' ? [] : [info('test.otherwise', { causes })]),
      ...dialects,
    ];
  }
  const accepted = row('check', said(t(name), t('test.accepted')));
  if (name === 'test.server') return [accepted];
  const app = info('test.app', { name: outcome.name ?? '' });
  return [accepted, app, info('test.online', { number: outcome.online ?? 0 }), ...dialects];
}

/** What was tested: the form may be closed by the time of the answer. */
interface Tested {
  url: string;
  hasKey: boolean;
  hasPassword: boolean;
}

/** Puts the result of a test into words. The clock comes last: it may explain a refused key. */
function resultRows(answer: TestResult, { url, hasKey, hasPassword }: Tested): ResultRow[] {
  const { openApi, serverApi, channel } = answer;
  const skew = openApi?.clockSkew ?? serverApi?.clockSkew;
  // What is wrong with the address is said once, and nothing of an interface that nobody uses.
  const isSame = serverApi?.problem !== undefined && serverApi.problem === openApi?.problem;
  const server = isSame || (!serverApi && !hasPassword);
  return [
    ...apiRows('test.open', openApi, url, hasKey),
    ...channelRows(channel),
    ...(server ? [] : apiRows('test.server', serverApi, url, hasPassword)),
    ...(typeof skew === 'number' && !isSame ? [clockRow(skew, serverApi !== null)] : []),
  ];
}

/** The simulator has no keys that anybody chose, and this machine's clock. */
function simulatorRows(answer: TestResult, tested: Tested): ResultRow[] {
  const { openApi, channel } = answer;
  if (!openApi?.ok) return resultRows(answer, tested);
  const { name = '', online: number = 0 } = openApi;
  return [
    row('check', t('test.simulator')),
    row('info-circle', t('test.app', { name })),
    row('info-circle', t('test.online', { number })),
    ...channelRows(channel),
  ];
}

/** What the editor shows for a stored password, which never reaches the browser. */
const STORED = '__PWRD__';

/** What surrounds the form: others may be open below it. */
const FORM = '.device-cloud-app';

const input = (property: string): JQuery => $(FORM).find(`#node-config-input-${property}`);

const typed = (property: string): string => rows.fieldValue(input(property)).trim();

const chosen = (property: string): string => typed(property).replace(/^_ADD_$/, '');

/** Credentials as typed. A stored one is left out: the server takes it from its store. */
function credentials(...keys: string[]): Record<string, string> {
  const entries = keys.map((key) => [key, rows.fieldValue(input(key))] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== STORED));
}

const TEXTS = ['service', 'baseUrl', 'appid', 'timeout', 'timestampUnit', 'historyZone', 'charset'];

const settings = (id: string): Record<string, unknown> => ({
  id,
  ...Object.fromEntries(TEXTS.map((property) => [property, typed(property)])),
  tls: chosen('tls'),
  proxy: chosen('proxy'),
  credentials: credentials('appkey', 'serverKey', 'serverPassword'),
});

async function test(id: string): Promise<ResultRow[]> {
  const sent = settings(id);
  const isSimulator = typed('service') === 'simulator';
  const invalid = isSimulator ? [] : invalidSettings();
  // Said here in the reader's language, and without a request that could only fail.
  if (invalid.length > 0) return invalid.map((each) => row('times', said(...each)));
  const hasKey = typed('appkey') !== '';
  const hasPassword = typed('serverPassword') !== '';
  const tested = { url: typed('baseUrl'), hasKey, hasPassword };
  try {
    const answer = (await postRoute('apps/test', sent)) as TestResult;
    return (isSimulator ? simulatorRows : resultRows)(answer, tested);
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, 'device-cloud.write');
    const problem = row('times', said(t('common.test.failed'), reason));
    return [detail === undefined ? problem : { ...problem, detail }];
  }
}

/** Whether the settings were tested as they are now. */
let isTested = false;

/** Makes the button test the typed settings, before they are saved or deployed. */
function prepareTest(id: string): void {
  const button = $(FORM).find('.device-cloud-test');
  const result = $(FORM).find('.device-cloud-result');
  // The result is about the form as it was.
  isTested = false;
  $(FORM).on('input change', 'input, select', () => {
    isTested = false;
    showRows(result, []);
  });
  button.on('click', () => {
    button.prop('disabled', true);
    showRows(result, [row('spinner fa-spin', t('common.test.running'))]);
    void test(id).then((shown) => {
      button.prop('disabled', false);
      isTested = true;
      showRows(result, shown);
      // The end first, then the button with the beginning next to it, which wins where the result is longer than the dialog.
      for (const part of [result.children().last(), button, result.children().first()])
        part[0]?.scrollIntoView({ block: 'nearest' });
    });
  });
}

/** Tests a service that is added untested. Only what is wrong is said, since nobody has asked. */
function testAdded(id: string): void {
  const isAdded = !RED.nodes.node(id);
  if (!isAdded || isTested || typed('service') !== 'cloud') return;
  if (invalidSettings().length > 0 || !RED.user.hasPermission('device-cloud.write')) return;
  void test(id).then((found) => {
    const wrong = found.find(({ icon }) => icon === 'fa-times');
    if (!wrong) return;
    // As text: it comes from a server that may not be trusted.
    const text = $('<div>').text(said(t('test.added'), wrong.text));
    RED.notify(text, { type: 'warning', timeout: 15_000 });
  });
}

type Config = AppConfig & rows.Named;

function adapt(node: EditorNode<Config>): void {
  $('.device-cloud-cloud-only').toggle(isCloud(node));
  $('.device-cloud-simulator-only').toggle(!isCloud(node));
}

/** For somebody who wants to create a device book: its usual name, ready to be changed. */
function suggestBook(): void {
  $(document).removeData(CREATE_BOOK);
  const book = $('#node-config-input-book').val('devices.csv');
  // The dialog gives the focus to its first field when it has opened.
  setTimeout(() => book.trigger('focus').trigger('select'), 500);
}

RED.nodes.registerType<Config, AppCredentials>('device-cloud-app' satisfies typeof APP_TYPE, {
  category: 'config',
  icon: 'device-cloud-app.svg',
  color: '#a58bf0',
  defaults: {
    name: rows.name,
    service: rows.choice(DEFAULTS.service, 'label.service', CHOICES.service),
    baseUrl: rows.required<Config>('', 'label.baseUrl', baseUrlError, isCloud),
    appid: rows.required<Config>('', 'label.appid', appidError, isCloud),
    timeout: rows.timeout(DEFAULTS.timeout),
    heartbeat: rows.limited(DEFAULTS.heartbeat, 'label.heartbeat', LIMITS.heartbeat),
    ping: rows.limited(DEFAULTS.ping, 'label.ping', LIMITS.ping),
    timestampUnit: rows.choice(
      DEFAULTS.timestampUnit,
      'label.timestampUnit',
      CHOICES.timestampUnit,
    ),
    // As text: the editor leaves a default of 0 out of the form of a new config node.
    deviceGap: rows.limited(String(DEFAULTS.deviceGap), 'label.deviceGap', LIMITS.deviceGap),
    historyZone: rows.checked<Config>(
      DEFAULTS.historyZone,
      'label.historyZone',
      zoneError,
      isCloud,
    ),
    pins: rows.described('pins', rows.checked(DEFAULTS.pins, 'label.pins', pinsError)),
    book: rows.checked(DEFAULTS.book, 'label.book', bookError),
    charset: rows.choice(DEFAULTS.charset, 'label.charset', CHOICES.charset),
    tls: { value: '', type: 'tls-config', required: false, label: 'TLS' },
    proxy: { value: '', type: 'http proxy', required: false, label: t('label.proxy') },
    cluster: { value: '', type: CLUSTER_TYPE, required: false, label: t('label.cluster') },
  },
  credentials: {
    appkey: {
      type: 'password',
      label: t('label.appkey'),
      validate: rows.validator<Config>(
        (key, node) => appkeyError(rows.current(node, 'appid'), key),
        isCloud,
      ),
    },
    serverKey: { type: 'text' },
    serverPassword: {
      type: 'password',
      label: t('label.serverPassword'),
      validate: rows.validator<Config & AppCredentials>(
        (password, node) => pairError(rows.current(node, 'serverKey'), password),
        isCloud,
      ),
    },
  },
  paletteLabel: t('paletteLabel'),
  label: function () {
    const name = readText(this.name);
    if (name) return name;
    if (this.service === 'simulator') return t('node.simulator');
    const host = (readText(this.baseUrl) ?? '').replace(/^https?:\/\//, '').replace(/\/$/, '');
    return host === '' ? t('paletteLabel') : [this.appid, host].filter(Boolean).join(' @ ');
  },
  oneditprepare: function () {
    rows.opened(this);
    if ($(document).data(CREATE_BOOK) === this.id) suggestBook();
    $('#node-config-input-service').on('change', () => adapt(this));
    adapt(this);
    prepareTest(this.id);
  },
  oneditsave: function () {
    testAdded(this.id);
  },
});
