import { said, t } from '../common/editor/catalogue';

/** One line of the result. */
export interface ResultRow {
  icon: string;
  text: string;
  detail?: string;
}

interface Outcome {
  ok: boolean;
  code?: string;
  message?: string;
  /** Name of the application. */
  name?: string;
  /** How many devices are online. */
  online?: number;
  /** Seconds between this clock and the service's. */
  clockSkew?: number | null;
}

/** What the test route answers; null stands for an interface whose keys are not given. */
export interface TestAnswer {
  openApi: Outcome | null;
  serverApi: Outcome | null;
  devices?: unknown;
}

/** The route is this package's own: its answer is taken as the route declares it. */
export function readAnswer(body: unknown): TestAnswer {
  return body as TestAnswer;
}

/** The server API refuses a clock that is further off (section 5.1). */
const CLOCK_LIMIT = 7200;
/** Less than this many seconds may be the way there and back. */
const CLOCK_NOISE = 5;

function host(baseUrl: string): string {
  try {
    return new URL(baseUrl).host;
  } catch {
    return baseUrl;
  }
}

function failed(name: string, outcome: Outcome, baseUrl: string): ResultRow {
  const key = `test.code.${outcome.code ?? ''}`;
  const known = t(key, { host: host(baseUrl) });
  const why = known.endsWith(key) ? t('test.code.other') : known;
  const row = { icon: 'fa-times', text: said(t(name), why) };
  return outcome.message === undefined ? row : { ...row, detail: outcome.message };
}

function clockRow(skew: number): ResultRow {
  const off = Math.round(Math.abs(skew));
  if (off < CLOCK_NOISE) return { icon: 'fa-check', text: t('test.clock-right') };
  const key = off > CLOCK_LIMIT ? 'test.clock-wrong' : 'test.clock-off';
  return { icon: 'fa-warning', text: t(key, { seconds: off }) };
}

function openApiRows(outcome: Outcome, baseUrl: string): ResultRow[] {
  if (!outcome.ok) return [failed('test.open', outcome, baseUrl)];
  return [
    { icon: 'fa-check', text: said(t('test.open'), t('test.accepted')) },
    { icon: 'fa-info-circle', text: t('test.app', { name: outcome.name ?? '' }) },
    { icon: 'fa-info-circle', text: t('test.online', { number: outcome.online ?? 0 }) },
  ];
}

function serverApiRow(outcome: Outcome, baseUrl: string): ResultRow {
  if (!outcome.ok) return failed('test.server', outcome, baseUrl);
  return { icon: 'fa-check', text: said(t('test.server'), t('test.accepted')) };
}

const untried = (name: string, hasKey: boolean): ResultRow => ({
  icon: 'fa-minus',
  text: said(t(name), t(hasKey ? 'test.skipped' : 'test.untried')),
});

/** Says which of the settings cannot be tried. */
export function invalidRow(setting: string, error: string): ResultRow {
  return { icon: 'fa-times', text: said(setting, error) };
}

/** What was tried, as far as the result speaks of it. */
export interface Tried {
  baseUrl: string;
  openKey: boolean;
  serverKey: boolean;
}

/** Says in words what the test has found. The clock is last: a refused key may be its fault. */
export function resultRows({ openApi, serverApi }: TestAnswer, tried: Tried): ResultRow[] {
  const skew = openApi?.clockSkew ?? serverApi?.clockSkew;
  return [
    ...(openApi ? openApiRows(openApi, tried.baseUrl) : [untried('test.open', tried.openKey)]),
    serverApi ? serverApiRow(serverApi, tried.baseUrl) : untried('test.server', tried.serverKey),
    ...(typeof skew === 'number' ? [clockRow(skew)] : []),
  ];
}
