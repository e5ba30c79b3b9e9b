import { t } from './texts';

/** One line of the result of a test. */
export interface ResultRow {
  icon: string;
  text: string;
  detail?: string;
  /** Of a refused request: the text that was signed, and a command that sends the same, without a key. */
  signing?: { signed: string; curl: string };
}

/** How a request was signed, folded. As text: it has what was typed. */
function signingBox({ signed, curl }: NonNullable<ResultRow['signing']>): JQuery {
  const copy = $('<button>', { type: 'button', class: 'red-ui-button red-ui-button-small' });
  copy.text(t('common.test.copy'));
  copy.on('click', () => RED.clipboard.copyText(curl, copy, 'clipboard.copyMessageValue'));
  return $('<details>').append(
    $('<summary>').text(t('common.test.signing')),
    $('<pre>').text(signed),
    $('<div>').text(t('common.test.command')),
    $('<pre>').text(curl),
    copy,
  );
}

/** Shows lines in a list, in place of those before. */
export function showRows(list: JQuery, rows: ResultRow[]): void {
  list.empty();
  for (const row of rows) {
    const item = $('<li>').appendTo(list);
    $('<i>', { class: `fa ${row.icon}` }).appendTo(item);
    const text = $('<div>').text(row.text).appendTo(item);
    // As text, always: it comes from a server that may be anyone's.
    if (row.detail !== undefined) $('<small>').text(row.detail).appendTo(text);
    if (row.signing) text.append(signingBox(row.signing));
  }
}
