import { said, t } from '../../common/editor/catalogue';
import type { ResultRow } from '../../common/editor/test-form';
import {
  warningText,
  type ExplainWarning,
  type Explanation,
} from '../../common/editor/explanation';

type Cause = 'blank' | 'capitals' | 'key' | 'appid' | 'clock';

interface Outcome {
  ok: boolean;
  code?: string;
  message?: string;
  /** Why it was not tried, and the settings concerned. */
  reason?: 'retype' | 'variable' | 'network';
  settings?: string[];
  /** Of a refused request: what may be wrong, the likeliest first. */
  causes?: Cause[];
  /** As which of the two the service answers. */
  dialect?: 'document' | 'public';
  /** What looks wrong about the keys. */
  warnings?: ExplainWarning[];
  explanation?: Explanation;
  /** Name of the application. */
  name?: string;
  /** How many devices are online. */
  online?: number;
  /** Seconds between this clock and the service's. */
  clockSkew?: number | null;
}

/** The answer of the test route; null for an interface whose keys are not given. */
export interface TestAnswer {
  openApi: Outcome | null;
  serverApi: Outcome | null;
  /** See `ChannelResult` of the route. */
  channel?:
    | { ok: true; chipid: string; open: boolean }
    | { ok: false; chipid: string; reason: string }
    | { ok: null; why: 'offline' | 'used' };
  devices?: unknown;
}

/** Trusts the type, since the route is this package's own. */
export function readAnswer(body: unknown): TestAnswer {
  return body as TestAnswer;
}

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
function causeText(name: string, cause: Cause, { clockSkew }: Outcome): string {
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
function reasonOf(name: string, outcome: Outcome, at: string): string {
  const { code = '', reason, settings = [], causes = [] } = outcome;
  const names = settings.map((name) => t(`label.${name}`)).join(', ');
  if (reason !== undefined) return t(`test.reason.${reason}`, { settings: names });
  const [cause] = causes;
  if (cause !== undefined) return t('test.refused', { cause: causeText(name, cause, outcome) });
  const key = `test.code.${code}`;
  const known = t(key, { host: at });
  return known.endsWith(key) ? t('test.code.other') : known;
}

function failed(name: string, outcome: Outcome, baseUrl: string): ResultRow {
  const row = { icon: 'fa-times', text: said(t(name), reasonOf(name, outcome, host(baseUrl))) };
  if (outcome.reason !== undefined || outcome.message === undefined) return row;
  const { code, message, explanation } = outcome;
  // The code can be searched for.
  const detail = [code, message].filter(Boolean).join(': ');
  return { ...row, detail, ...(explanation ? { explanation } : {}) };
}

const keyRows = ({ warnings = [] }: Outcome): ResultRow[] =>
  warnings.map((warning) => ({ icon: 'fa-warning', text: warningText(warning) }));

/** What else may be the cause. */
function otherCauses(name: string, outcome: Outcome): ResultRow[] {
  const [, ...others] = outcome.causes ?? [];
  if (others.length === 0) return [];
  const causes = others.map((cause) => causeText(name, cause, outcome));
  return [
    { icon: 'fa-info-circle', text: t('test.otherwise', { causes: causes.join(t('test.or')) }) },
  ];
}

function dialectRows({ dialect }: Outcome): ResultRow[] {
  return dialect ? [{ icon: 'fa-info-circle', text: t(`test.dialect.${dialect}`) }] : [];
}

function channelRows(channel: TestAnswer['channel']): ResultRow[] {
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

function openApiRows(outcome: Outcome, baseUrl: string): ResultRow[] {
  if (!outcome.ok)
    return [
      failed('test.open', outcome, baseUrl),
      ...keyRows(outcome),
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

function serverApiRows(outcome: Outcome, baseUrl: string): ResultRow[] {
  if (!outcome.ok)
    return [
      failed('test.server', outcome, baseUrl),
      ...keyRows(outcome),
      ...otherCauses('test.server', outcome),
    ];
  return [{ icon: 'fa-check', text: said(t('test.server'), t('test.accepted')) }];
}

const untried = (name: string, hasKey: boolean): ResultRow => ({
  icon: 'fa-minus',
  text: said(t(name), t(hasKey ? 'test.skipped' : 'test.untried')),
});

/** Names a setting that cannot be tried. */
export function invalidRow(setting: string, error: string): ResultRow {
  return { icon: 'fa-times', text: said(setting, error) };
}

/** The settings that were tried, as far as the result mentions them. */
export interface Tried {
  baseUrl: string;
  openKey: boolean;
  serverKey: boolean;
}

/** Puts the result of a test into words. The clock comes last: it may explain a refused key. */
export function resultRows(answer: TestAnswer, tried: Tried): ResultRow[] {
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
