import { said, t } from '../common/editor/texts';
import { detailOf, explainFailure, statusText } from '../common/editor/routes';
import { fieldValue } from '../common/editor/rows';
import { showRows, type ResultRow } from '../common/editor/result-rows';
import { postRoute } from '../common/editor/routes';
import type { ApiResult, Cause, KeyWarning, TestResult } from './answers.config';

/** The server API refuses a larger difference, in seconds (section 5.1). */
const CLOCK_LIMIT = 7200;
/** A smaller difference, in seconds, may be the round trip. */
const CLOCK_NOISE = 5;

function host(baseUrl: string): string {
  try {
    return new URL(baseUrl).host;
  } catch {
    return baseUrl;
  }
}

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
  const rows = (icon: string, key: string, values?: Record<string, string>): ResultRow[] => [
    row(icon, said(t('test.channel'), t(`test.channels.${key}`, values))),
  ];
  if (channel.ok === null) return rows('minus', channel.why);
  const { chipid } = channel;
  if (channel.ok) return rows('check', channel.open ? 'open' : 'connected', { chipid });
  return rows('times', 'failed', { chipid, reason: channel.reason });
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

/** Finds invalid settings in the form, with their labels. */
type InvalidSettings = (typed: (property: string) => string) => [setting: string, error: string][];

/** What the editor shows for a stored password, which never reaches the browser. */
const STORED = '__PWRD__';

/** What surrounds the form: others may be open below it. */
const FORM = '.device-cloud-app';

const input = (property: string): JQuery => $(FORM).find(`#node-config-input-${property}`);

const typed = (property: string): string => fieldValue(input(property)).trim();

function chosen(property: string): string {
  const id = typed(property);
  return id === '_ADD_' ? '' : id;
}

/** Credentials as typed. A stored one is left out: the server takes it from its store. */
function credentials(...keys: string[]): Record<string, string> {
  const entries = keys.map((key) => [key, fieldValue(input(key))] as const);
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

async function test(id: string, invalidSettings: InvalidSettings): Promise<ResultRow[]> {
  const sent = settings(id);
  const isSimulator = typed('service') === 'simulator';
  const invalid = isSimulator ? [] : invalidSettings(typed);
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
export function prepareTest(id: string, invalidSettings: InvalidSettings): void {
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
    void test(id, invalidSettings).then((rows) => {
      button.prop('disabled', false);
      isTested = true;
      showRows(result, rows);
      // The end first, then the button with the beginning next to it, which wins where the result is longer than the dialog.
      for (const shown of [result.children().last(), button, result.children().first()])
        shown[0]?.scrollIntoView({ block: 'nearest' });
    });
  });
}

/** Tests a service that is added untested. Only what is wrong is said, since nobody has asked. */
export function testAdded(id: string, invalidSettings: InvalidSettings): void {
  const isAdded = !RED.nodes.node(id);
  if (!isAdded || isTested || typed('service') !== 'cloud') return;
  if (invalidSettings(typed).length > 0 || !RED.user.hasPermission('device-cloud.write')) return;
  void test(id, invalidSettings).then((rows) => {
    const wrong = rows.find(({ icon }) => icon === 'fa-times');
    if (!wrong) return;
    // As text: it comes from a server that may not be trusted.
    const text = $('<div>').text(said(t('test.added'), wrong.text));
    RED.notify(text, { type: 'warning', timeout: 15_000 });
  });
}
