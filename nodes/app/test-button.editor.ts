import { said, t } from '../common/editor/catalogue';
import { explainFailure, readDevices, rememberDevices } from '../common/editor/devices';
import { showExplanation, type Explanation } from '../common/editor/explanation';
import { fieldValue } from '../common/editor/form';
import { invalidSettings } from './app-rules.editor';
import { invalidRow, readAnswer, resultRows, type ResultRow } from './test-result.editor';

/** What the editor shows for a stored password, which never reaches the browser. */
const STORED = '__PWRD__';

const input = (property: string): JQuery => $(`#node-config-input-${property}`);
const typed = (property: string): string => fieldValue(input(property)).trim();

/** The id of a chosen config node. */
function chosen(property: string): string {
  const id = typed(property);
  return id === '_ADD_' ? '' : id;
}

/** The credentials as typed. A stored one is left out: the server takes it from its store. */
function credentials(): Record<string, string> {
  const keys = ['appkey', 'serverKey', 'serverPassword'];
  const entries = keys.map((key) => [key, fieldValue(input(key))] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== STORED));
}

function settings(id: string): Record<string, unknown> {
  return {
    id,
    service: typed('service'),
    baseUrl: typed('baseUrl'),
    appid: typed('appid'),
    timeout: typed('timeout'),
    historyZone: typed('historyZone'),
    postParameters: typed('postParameters'),
    signCase: typed('signCase'),
    tls: chosen('tls'),
    proxy: chosen('proxy'),
    credentials: credentials(),
  };
}

/** A button that shows what was sent, and hides it again. */
function explanationButton(explanation: Explanation): JQuery[] {
  const box = $('<div>').hide();
  const button = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
  button.text(t('common.explain.button')).attr('aria-expanded', 'false');
  showExplanation(box, explanation);
  button.on('click', () => {
    box.toggle();
    button.attr('aria-expanded', String(box.is(':visible')));
  });
  return [$('<div>').append(button), box];
}

function showRows(rows: ResultRow[]): void {
  const list = $('#device-cloud-test-result').empty();
  for (const row of rows) {
    const item = $('<li>')
      .append($('<i>', { class: `fa ${row.icon}` }))
      .appendTo(list);
    const text = $('<div>').text(row.text).appendTo(item);
    // As text, always: it comes from a server that may be anyone's.
    if (row.detail !== undefined) $('<small>').text(row.detail).appendTo(text);
    if (row.explanation) text.append(...explanationButton(row.explanation));
  }
}

async function test(id: string): Promise<ResultRow[]> {
  const sent = settings(id);
  const invalid = sent['service'] === 'simulator' ? [] : invalidSettings(typed);
  // Said here in the reader's language, and without a request that could only fail.
  if (invalid.length > 0) return invalid.map(([setting, error]) => invalidRow(setting, error));
  try {
    const body: unknown = await $.ajax({
      // Neither `/` nor `.` comes first, so that Node-RED adds its root and the bearer token.
      url: 'device-cloud/apps/test',
      method: 'POST',
      contentType: 'application/json',
      data: JSON.stringify(sent),
    });
    const answer = readAnswer(body);
    if (answer.openApi?.ok) rememberDevices(id, readDevices(answer.devices));
    const [openKey, serverKey] = [typed('appkey') !== '', typed('serverPassword') !== ''];
    return resultRows(answer, { baseUrl: typed('baseUrl'), openKey, serverKey });
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, {
      permission: 'device-cloud.write',
      forbidden: t('test.forbidden'),
    });
    const row = { icon: 'fa-times', text: said(t('test.failed'), reason) };
    return [detail === undefined ? row : { ...row, detail }];
  }
}

/** Makes the button test what is typed, before it is saved or deployed. */
export function prepareTest(id: string): void {
  const button = $('#device-cloud-test');
  // The result does not apply to what is typed now.
  $('.device-cloud-app').on('input change', 'input, select', () => showRows([]));
  button.on('click', () => {
    button.prop('disabled', true);
    showRows([{ icon: 'fa-spinner fa-spin', text: t('test.running') }]);
    void test(id).then((rows) => {
      button.prop('disabled', false);
      showRows(rows);
    });
  });
}
