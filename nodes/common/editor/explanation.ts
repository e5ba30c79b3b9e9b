import type { ExplainWarning, Explanation } from '../shared.config';
import { t } from './catalogue';

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
