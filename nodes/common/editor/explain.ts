import {
  isObject,
  parseJsonObject,
  type ExplainedFailure,
  type ExplainWarning,
  type Explanation,
} from '../shared.config';
import { explainFailure } from './devices';
import { field, fieldValue } from './form';
import type { EditorNode, EditorNodeBase } from './red';
import { postRoute } from './routes';
import { ageText, plain, said, t } from './texts';

/** A warning in the reader's language. */
export function warningText({ code, message, setting, where, values }: ExplainWarning): string {
  if (setting === undefined || where === undefined) {
    return t(`common.explain.warning.${code}`, { ...values, defaultValue: message });
  }
  return t(`common.explain.where.${where}`, {
    setting: t(`common.explain.setting.${setting}`),
    fault: t(`common.explain.fault.${code}`),
    defaultValue: message,
  });
}

function warningList(warnings: ExplainWarning[]): JQuery {
  const list = $('<ul>', { class: 'device-cloud-result' });
  for (const warning of warnings) {
    const icon = warning.setting === undefined ? 'fa-info-circle' : 'fa-warning';
    const item = $('<li>').appendTo(list);
    $('<i>', { class: `fa ${icon}` }).appendTo(item);
    $('<div>').text(warningText(warning)).appendTo(item);
  }
  return list;
}

function parameterTable(parameters: [string, string][]): JQuery {
  const table = $('<table>');
  for (const [name, value] of parameters) {
    const row = $('<tr>').appendTo(table);
    $('<th>', { scope: 'row' }).text(name).appendTo(row);
    $('<td>').text(value).appendTo(row);
  }
  return table;
}

const code = (text: string): JQuery => $('<pre>').text(text);

const title = (key: string, values?: Record<string, unknown>): JQuery =>
  $('<h5>').text(t(`common.explain.${key}`, values));

/** The command, for the chosen shell: at first for the reader's machine. */
function command({ curl, powershell }: Explanation): JQuery[] {
  const copy = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
  $('<i>', { class: 'fa fa-clipboard' }).appendTo(copy);
  copy.append(document.createTextNode(` ${t('common.explain.copy')}`));
  const shell = $('<select>', { 'aria-label': t('common.explain.shell') }).append(
    $('<option>', { value: 'posix' }).text(t('common.explain.posix')),
    $('<option>', { value: 'powershell' }).text('PowerShell'),
  );
  const isPowershell = (): boolean => fieldValue(shell) === 'powershell';
  const text = code('');
  const note = $('<small>');
  const show = (): void => {
    text.text(isPowershell() ? powershell : curl);
    const prefix = isPowershell() ? '$env:' : '';
    const names = curl.includes('$SERVER_KEY') ? ['SERVER_KEY', 'SERVER_PASSWORD'] : ['APPKEY'];
    const variables = names.map((name) => prefix + name).join(', ');
    const key = isPowershell() ? 'powershell-note' : 'command-note';
    note.text(t(`common.explain.${key}`, { variables }));
  };
  copy.on('click', () => RED.clipboard.copyText(text.text(), copy, 'clipboard.copyMessageValue'));
  shell.val(navigator.userAgent.includes('Windows') ? 'powershell' : 'posix').on('change', show);
  show();
  return [title('command').append(copy, shell), text, note];
}

/** A smaller difference between the clocks, in seconds, may be the round trip. */
const CLOCK_NOISE = 5;

function clockText(skew: number): string {
  const seconds = Math.round(Math.abs(skew));
  if (seconds < CLOCK_NOISE) return t('common.explain.failure.clock-right');
  return t(`common.explain.failure.clock-${skew > 0 ? 'behind' : 'ahead'}`, { seconds });
}

/** Why the last call has failed: its code, the service's words, what to check. As text: it comes from a server. */
function failureRows(failure: ExplainedFailure): JQuery[] {
  const { code, message, said: words, statusCode, age, clockSkew } = failure;
  const kind = code.toLowerCase().replaceAll('_', '-');
  const short = t(`status.${kind}`, { defaultValue: '' });
  const status = statusCode === undefined ? '' : ` (${statusCode})`;
  const check = t(`common.explain.check.${kind}`, { defaultValue: '' });
  const texts = {
    code: `${[code, short].filter(Boolean).join(' · ')}${status}`,
    said: plain(words ?? ''),
    check,
    clock: clockSkew === undefined ? '' : clockText(clockSkew),
    message: plain(message),
  };
  const rows = Object.entries(texts).filter(([, text]) => text !== '');
  const table = rows.map(([name, text]): [string, string] => [
    t(`common.explain.failure.${name}`),
    text,
  ]);
  return [
    title('failure.title', { age: ageText(Date.now() - age) }),
    parameterTable(table).addClass('device-cloud-failure'),
  ];
}

/** Shows an explanation. All of it as text, never as HTML: a message may hold anything. */
export function showExplanation(target: JQuery, explanation: Explanation): void {
  const { method, path, parameters, signed, curl, warnings, failure } = explanation;
  const box = $('<div>', { class: 'device-cloud-explanation' }).append(
    ...(failure ? failureRows(failure) : []),
    warningList(warnings),
    title('request'),
    code(`${method} ${path}`),
    title('parameters'),
    parameterTable(parameters),
    title('signed'),
    code(signed),
  );
  if (curl !== '') box.append(...command(explanation));
  target.empty().append(box);
}

/** A sample for each property that may be read from a message. */
const SAMPLES: Readonly<Record<string, unknown>> = {
  chipid: 10000001,
  pin: 4,
  level: 1,
  key: 'temperature',
  message: 'hello',
  begin: '20260101',
  end: '20260102',
  deviceid: '10000001',
  page: 1,
  count: 20,
  body: { name: 'x' },
  query: { page: 1, count: 20 },
};

const PATH = /^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$/;

const properties = (type: string): string[] => Object.keys(RED.nodes.getType(type).defaults);

/** Sets a property of a property: `device.id`. */
function setPath(msg: Record<string, unknown>, path: string, value: unknown): void {
  const [first = '', ...others] = path.split('.');
  if (others.length === 0) msg[first] = value;
  else {
    if (!isObject(msg[first])) msg[first] = {};
    setPath(msg[first] as Record<string, unknown>, others.join('.'), value);
  }
}

/** A message with everything that the node reads from it as the dialog is filled in. */
function sampleMessage(type: string): string {
  const msg: Record<string, unknown> = {};
  for (const property of properties(type)) {
    const isShown = field(property).closest('.form-row').is(':visible');
    if (!isShown || fieldValue(field(`${property}Type`)) !== 'msg') continue;
    const path = fieldValue(field(property));
    if (PATH.test(path)) setPath(msg, path, SAMPLES[property] ?? 'x');
  }
  if (fieldValue(field('format')) === 'msg') msg['format'] = 'MSG';
  return JSON.stringify(msg);
}

/** The node as the dialog is filled in. */
function typedNode(node: EditorNodeBase): Record<string, unknown> {
  const saved = node as unknown as Record<string, unknown>;
  const typed = properties(node.type).map((property) => {
    const input = field(property);
    if (input.length === 0) return [property, saved[property]] as const;
    const isBox = input.is('[type=checkbox]');
    return [property, isBox ? input.is(':checked') : fieldValue(input)] as const;
  });
  return { ...Object.fromEntries(typed), id: node.id, type: node.type };
}

function showProblem(target: JQuery, text: string, detail = ''): void {
  const box = $('<div>', { class: 'device-cloud-explanation' }).text(text);
  if (detail !== '') $('<small>').text(detail).appendTo(box);
  target.empty().append(box);
}

async function explain(node: EditorNodeBase, target: JQuery): Promise<void> {
  const msg = parseJsonObject(fieldValue($('#device-cloud-explain-msg')).trim() || '{}');
  const id = fieldValue(field('app'));
  const app = RED.nodes.node(id);
  if (!msg || !app) {
    showProblem(target, t(msg ? 'common.explain.no-app' : 'common.explain.not-json'));
    return;
  }
  try {
    const body: unknown = await postRoute('apps/explain', { id, node: typedNode(node), msg });
    const explanation = body as Explanation;
    const changed = app.changed ? [{ code: 'undeployed' }] : [];
    const warnings = [...changed, ...explanation.warnings];
    showExplanation(target, { ...explanation, warnings });
  } catch (failure) {
    const forbidden = t('common.explain.forbidden');
    const { reason, detail } = explainFailure(failure, 'device-cloud.write', forbidden);
    showProblem(target, said(t('common.explain.failed'), reason), detail);
  }
}

/** Makes the row explain what the node would send, as the dialog is filled in. */
export function prepareExplain<T>(node: EditorNode<T>): void {
  const row = $('#explain-row');
  const message = $('#device-cloud-explain-msg');
  const target = $('#device-cloud-explanation');
  let sample = '';
  const run = (): void => {
    // A message that was typed stays.
    if (fieldValue(message) === sample) message.val((sample = sampleMessage(node.type)));
    void explain(node, target);
  };
  row.on('toggle', () => {
    if (row.is('[open]')) run();
  });
  $('#device-cloud-explain').on('click', run);
}
