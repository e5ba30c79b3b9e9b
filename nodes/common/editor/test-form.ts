import { said, t } from './texts';
import { explainFailure } from './devices';
import { fieldValue } from './form';
import { postRoute } from './routes';

/** What the editor shows for a stored password, which never reaches the browser. */
const STORED = '__PWRD__';

/** One line of the result of a test. */
export interface ResultRow {
  icon: string;
  text: string;
  detail?: string;
  /** Of a refused request: the text that was signed, and a command that sends the same, without a key. */
  signing?: { signed: string; curl: string };
}

/** The form of a config node, whose settings can be tried before they are saved. */
export class TestForm {
  readonly #root: string;

  /** @param root selects what surrounds the form: several may be open, one above the other */
  constructor(root: string) {
    this.#root = root;
  }

  input(property: string): JQuery {
    return $(this.#root).find(`#node-config-input-${property}`);
  }

  typed(property: string): string {
    return fieldValue(this.input(property)).trim();
  }

  chosen(property: string): string {
    const id = this.typed(property);
    return id === '_ADD_' ? '' : id;
  }

  /** Credentials as typed. A stored one is left out: the server takes it from its store. */
  credentials(keys: readonly string[]): Record<string, string> {
    const entries = keys.map((key) => [key, fieldValue(this.input(key))] as const);
    return Object.fromEntries(entries.filter(([, value]) => value !== STORED));
  }

  /**
   * Makes the button show what a test of the typed settings finds.
   * @param test never rejects
   */
  prepare(test: () => Promise<ResultRow[]>): void {
    const button = $(this.#root).find('.device-cloud-test');
    const result = $(this.#root).find('.device-cloud-result');
    // The result is about the form as it was.
    $(this.#root).on('input change', 'input, select', () => showRows(result, []));
    button.on('click', () => {
      button.prop('disabled', true);
      showRows(result, [{ icon: 'fa-spinner fa-spin', text: t('common.test.running') }]);
      void test().then((rows) => {
        button.prop('disabled', false);
        showRows(result, rows);
        // The end first, then the button with the beginning next to it, which wins where the result is longer than the dialog.
        for (const shown of [result.children().last(), button, result.children().first()])
          shown[0]?.scrollIntoView({ block: 'nearest' });
      });
    });
  }
}

/**
 * Has the run time test settings.
 * @param path of the route, below `device-cloud/`
 * @param rows puts its answer into words
 * @returns what `rows` returns, or why there was no answer
 */
export async function testSettings(
  path: string,
  settings: object,
  rows: (answer: unknown) => ResultRow[],
): Promise<ResultRow[]> {
  try {
    return rows(await postRoute(path, settings));
  } catch (failure) {
    const forbidden = t('common.test.forbidden');
    const { reason, detail } = explainFailure(failure, 'device-cloud.write', forbidden);
    const row = { icon: 'fa-times', text: said(t('common.test.failed'), reason) };
    return [detail === undefined ? row : { ...row, detail }];
  }
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
