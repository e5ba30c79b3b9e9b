import { parseJsonObject, type ExplainWarning, type Explanation } from '../shared.config';
import { explainFailure } from './devices';
import { field, fieldValue } from './form';
import type { EditorNode, EditorNodeBase } from './red';
import { postRoute } from './routes';
import { said, t } from './texts';

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

const title = (key: string): JQuery => $('<h5>').text(t(`common.explain.${key}`));

function command(curl: string): JQuery[] {
  const copy = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
  $('<i>', { class: 'fa fa-clipboard' }).appendTo(copy);
  copy.append(document.createTextNode(` ${t('common.explain.copy')}`));
  copy.on('click', () => RED.clipboard.copyText(curl, copy, 'clipboard.copyMessageValue'));
  const variables = curl.includes('$SERVER_KEY') ? 'SERVER_KEY, SERVER_PASSWORD' : 'APPKEY';
  const note = $('<small>').text(t('common.explain.command-note', { variables }));
  return [title('command').append(copy), code(curl), note];
}

/** Shows an explanation. All of it as text, never as HTML: a message may hold anything. */
export function showExplanation(target: JQuery, explanation: Explanation): void {
  const { method, path, parameters, signed, curl, warnings } = explanation;
  const box = $('<div>', { class: 'device-cloud-explanation' }).append(
    warningList(warnings),
    title('request'),
    code(`${method} ${path}`),
    title('parameters'),
    parameterTable(parameters),
    title('signed'),
    code(signed),
  );
  if (curl !== '') box.append(...command(curl));
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
  const names = path.split('.');
  const last = names.pop() ?? '';
  let at = msg;
  for (const name of names) {
    const next = at[name];
    at = (typeof next === 'object' && next !== null ? next : (at[name] = {})) as typeof msg;
  }
  at[last] = value;
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

const parseMessage = (text: string): object | undefined =>
  parseJsonObject(text.trim() === '' ? '{}' : text);

function showProblem(target: JQuery, text: string, detail = ''): void {
  const box = $('<div>', { class: 'device-cloud-explanation' }).text(text);
  if (detail !== '') $('<small>').text(detail).appendTo(box);
  target.empty().append(box);
}

async function explain(node: EditorNodeBase, target: JQuery): Promise<void> {
  const msg = parseMessage(fieldValue($('#device-cloud-explain-msg')));
  if (!msg) {
    showProblem(target, t('common.explain.not-json'));
    return;
  }
  const id = fieldValue(field('app'));
  const app = RED.nodes.node(id);
  if (!app) {
    showProblem(target, t('common.explain.no-app'));
    return;
  }
  try {
    const body: unknown = await postRoute('apps/explain', { id, node: typedNode(node), msg });
    const explanation = body as Explanation;
    const changed = { code: 'undeployed', message: '' };
    const warnings = [...(app.changed ? [changed] : []), ...explanation.warnings];
    showExplanation(target, { ...explanation, warnings });
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, {
      permission: 'device-cloud.write',
      forbidden: t('common.explain.forbidden'),
    });
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
