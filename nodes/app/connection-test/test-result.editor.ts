import { said, t } from '../../common/editor/catalogue';
import type { ResultRow } from '../../common/editor/test-form';
import {
  warningText,
  type ExplainWarning,
  type Explanation,
} from '../../common/editor/explanation';

interface Outcome {
  ok: boolean;
  code?: string;
  message?: string;
  /** Why it was not tried, and the settings concerned. */
  reason?: 'retype' | 'variable' | 'network';
  settings?: string[];
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

/**
 * Says why in the reader's language. A wrong appid may be 401 or 404 (section 7), so both may mean that
 * the open API knows no such account; 404 of the server API may as well be another address.
 */
function reasonOf(
  interfaceName: string,
  { code = '', reason, settings = [] }: Outcome,
  at: string,
) {
  const names = settings.map((name) => t(`label.${name}`)).join(', ');
  if (reason !== undefined) return t(`test.reason.${reason}`, { settings: names });
  const isRefused = code === 'UNAUTHORIZED' || code === 'NOT_FOUND';
  if (interfaceName === 'test.open' && isRefused) return t('test.refused');
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

function clockRow(skew: number): ResultRow {
  const off = Math.round(Math.abs(skew));
  if (off < CLOCK_NOISE) return { icon: 'fa-check', text: t('test.clock-right') };
  const key = off > CLOCK_LIMIT ? 'test.clock-wrong' : 'test.clock-off';
  return { icon: 'fa-warning', text: t(key, { seconds: off }) };
}

function openApiRows(outcome: Outcome, baseUrl: string): ResultRow[] {
  if (!outcome.ok) return [failed('test.open', outcome, baseUrl), ...keyRows(outcome)];
  return [
    { icon: 'fa-check', text: said(t('test.open'), t('test.accepted')) },
    { icon: 'fa-info-circle', text: t('test.app', { name: outcome.name ?? '' }) },
    { icon: 'fa-info-circle', text: t('test.online', { number: outcome.online ?? 0 }) },
  ];
}

function serverApiRows(outcome: Outcome, baseUrl: string): ResultRow[] {
  if (!outcome.ok) return [failed('test.server', outcome, baseUrl), ...keyRows(outcome)];
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
export function resultRows({ openApi, serverApi }: TestAnswer, tried: Tried): ResultRow[] {
  const skew = openApi?.clockSkew ?? serverApi?.clockSkew;
  return [
    ...(openApi ? openApiRows(openApi, tried.baseUrl) : [untried('test.open', tried.openKey)]),
    ...(serverApi
      ? serverApiRows(serverApi, tried.baseUrl)
      : [untried('test.server', tried.serverKey)]),
    ...(typeof skew === 'number' ? [clockRow(skew)] : []),
  ];
}
