import { said, t } from '../common/editor/texts';
import { detailOf, readDevices, rememberDevices } from '../common/editor/devices';
import { warningText } from '../common/editor/explain';
import { TestForm, testSettings, type ResultRow } from '../common/editor/test-form';
import type { ApiResult, Cause, TestResult } from './answers.config';

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

/** A cause in the reader's language. */
function causeText(name: string, cause: Cause, { clockSkew }: ApiResult): string {
  if (cause === 'key') return t(name === 'test.server' ? 'test.cause.password' : 'test.cause.key');
  if (cause !== 'clock') return t(`test.cause.${cause}`);
  // Positive: the service is ahead.
  const skew = clockSkew ?? 0;
  const seconds = Math.round(Math.abs(skew));
  return t(skew > 0 ? 'test.cause.behind' : 'test.cause.ahead', { seconds });
}

/**
 * Says why in the reader's language. A wrong appid may be 401 or 404 (section 7); 404 of the server API may as well be
 * another address.
 */
function reasonOf(name: string, outcome: ApiResult, at: string): string {
  const { code = '', reason, settings = [], causes = [] } = outcome;
  const names = settings.map((name) => t(`label.${name}`)).join(', ');
  if (reason !== undefined) return t(`test.reason.${reason}`, { settings: names });
  const [cause] = causes;
  if (cause !== undefined) return t('test.refused', { cause: causeText(name, cause, outcome) });
  const key = `test.code.${code}`;
  const known = t(key, { host: at });
  return known.endsWith(key) ? t('test.code.other') : known;
}

function failed(name: string, outcome: ApiResult, baseUrl: string): ResultRow {
  const row = { icon: 'fa-times', text: said(t(name), reasonOf(name, outcome, host(baseUrl))) };
  if (outcome.reason !== undefined || outcome.message === undefined) return row;
  const { code = '', message, explanation } = outcome;
  return { ...row, detail: detailOf(code, message), ...(explanation ? { explanation } : {}) };
}

/** What looks wrong about a key comes first: it is the likeliest cause. */
const keyRows = ({ warnings = [] }: ApiResult): ResultRow[] =>
  warnings.map((warning) => ({ icon: 'fa-times', text: warningText(warning) }));

/** What else may be the cause. */
function otherCauses(name: string, outcome: ApiResult): ResultRow[] {
  const [, ...others] = outcome.causes ?? [];
  if (others.length === 0) return [];
  const causes = others.map((cause) => causeText(name, cause, outcome));
  return [
    { icon: 'fa-info-circle', text: t('test.otherwise', { causes: causes.join(t('test.or')) }) },
  ];
}

function dialectRows({ dialect }: ApiResult): ResultRow[] {
  return dialect ? [{ icon: 'fa-info-circle', text: t(`test.dialect.${dialect}`) }] : [];
}

function channelRows(channel: TestResult['channel']): ResultRow[] {
  if (!channel) return [];
  const row = (icon: string, key: string, values?: Record<string, string>): ResultRow[] => [
    { icon, text: said(t('test.channel'), t(`test.channels.${key}`, values)) },
  ];
  if (channel.ok === null) return row('fa-minus', channel.why);
  const { chipid } = channel;
  if (channel.ok) return row('fa-check', channel.open ? 'open' : 'connected', { chipid });
  return row('fa-times', 'failed', { chipid, reason: channel.reason });
}

function clockRow(skew: number): ResultRow {
  const off = Math.round(Math.abs(skew));
  if (off < CLOCK_NOISE) return { icon: 'fa-check', text: t('test.clock-right') };
  const key = off > CLOCK_LIMIT ? 'test.clock-wrong' : 'test.clock-off';
  return { icon: 'fa-warning', text: t(key, { seconds: off }) };
}

function openApiRows(outcome: ApiResult, baseUrl: string): ResultRow[] {
  if (!outcome.ok)
    return [
      ...keyRows(outcome),
      failed('test.open', outcome, baseUrl),
      ...otherCauses('test.open', outcome),
      ...dialectRows(outcome),
    ];
  return [
    { icon: 'fa-check', text: said(t('test.open'), t('test.accepted')) },
    { icon: 'fa-info-circle', text: t('test.app', { name: outcome.name ?? '' }) },
    { icon: 'fa-info-circle', text: t('test.online', { number: outcome.online ?? 0 }) },
    ...dialectRows(outcome),
  ];
}

function serverApiRows(outcome: ApiResult, baseUrl: string): ResultRow[] {
  if (!outcome.ok)
    return [
      ...keyRows(outcome),
      failed('test.server', outcome, baseUrl),
      ...otherCauses('test.server', outcome),
    ];
  return [{ icon: 'fa-check', text: said(t('test.server'), t('test.accepted')) }];
}

const untried = (name: string, hasKey: boolean): ResultRow => ({
  icon: 'fa-minus',
  text: said(t(name), t(hasKey ? 'test.skipped' : 'test.untried')),
});

/** Names a setting that cannot be tried. */
function invalidRow(setting: string, error: string): ResultRow {
  return { icon: 'fa-times', text: said(setting, error) };
}

/** The settings that were tried, as far as the result mentions them. */
interface Tried {
  baseUrl: string;
  openKey: boolean;
  serverKey: boolean;
}

/** Puts the result of a test into words. The clock comes last: it may explain a refused key. */
function resultRows(answer: TestResult, tried: Tried): ResultRow[] {
  const { openApi, serverApi, channel } = answer;
  const skew = openApi?.clockSkew ?? serverApi?.clockSkew;
  return [
    ...(openApi ? openApiRows(openApi, tried.baseUrl) : [untried('test.open', tried.openKey)]),
    ...channelRows(channel),
    ...(serverApi
      ? serverApiRows(serverApi, tried.baseUrl)
      : [untried('test.server', tried.serverKey)]),
    ...(typeof skew === 'number' ? [clockRow(skew)] : []),
  ];
}

/** Finds invalid settings in the form, with their labels. */
type InvalidSettings = (typed: (property: string) => string) => [setting: string, error: string][];

const form = new TestForm('.device-cloud-app:not(.device-cloud-cluster)');
const typed = (property: string): string => form.typed(property);

function settings(id: string): Record<string, unknown> {
  return {
    id,
    service: typed('service'),
    recording: typed('recording'),
    speed: typed('speed'),
    baseUrl: typed('baseUrl'),
    appid: typed('appid'),
    timeout: typed('timeout'),
    timestampUnit: typed('timestampUnit'),
    historyZone: typed('historyZone'),
    charset: typed('charset'),
    postParameters: typed('postParameters'),
    signCase: typed('signCase'),
    tls: form.chosen('tls'),
    proxy: form.chosen('proxy'),
    credentials: form.credentials(['appkey', 'serverKey', 'serverPassword']),
  };
}

async function test(id: string, invalidSettings: InvalidSettings): Promise<ResultRow[]> {
  const sent = settings(id);
  const invalid =
    sent['service'] === 'simulator' || sent['service'] === 'recording'
      ? []
      : invalidSettings(typed);
  // Said here in the reader's language, and without a request that could only fail.
  if (invalid.length > 0) return invalid.map(([setting, error]) => invalidRow(setting, error));
  return testSettings('apps/test', sent, (body) => {
    const answer = body as TestResult;
    if (answer.openApi?.ok) rememberDevices(id, readDevices(answer.devices));
    const [openKey, serverKey] = [typed('appkey') !== '', typed('serverPassword') !== ''];
    return resultRows(answer, { baseUrl: typed('baseUrl'), openKey, serverKey });
  });
}

/** Makes the button test the typed settings, before they are saved or deployed. */
export function prepareTest(id: string, invalidSettings: InvalidSettings): void {
  form.prepare(() => test(id, invalidSettings));
}
