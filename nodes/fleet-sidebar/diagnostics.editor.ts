import type { Diagnostics } from '../app/answers.config';
import { getRoute } from '../common/editor/routes';
import { plain, t } from '../common/editor/texts';
import { notify, readProblem, smallButton } from './commands.editor';

/** A value within a line of Markdown, whatever is in it. Two backticks with nothing between them are no code. */
function code(value: unknown): string {
  const text = plain(String(value).replace(/[`\s]+/g, ' ')).trim();
  return text === '' ? 'empty' : `\`${text}\``;
}

const list = (values: Record<string, unknown>): string[] =>
  Object.entries(values).map(([name, value]) => `- ${name}: ${code(value)}`);

/** In English, whatever the reader's language: it is for an issue. */
function toMarkdown({ versions, apps, errors }: Diagnostics, browser: string): string {
  const lines = ['### Versions', '', ...list({ ...versions, browser })];
  apps.forEach(({ settings, counts }, index) => {
    lines.push('', `### Application ${index + 1}`, '', ...list(settings));
    lines.push('', ...list(counts));
  });
  lines.push('', '### Last errors', '');
  for (const { app, chipid, code: kind, message, at } of errors) {
    const number = apps.findIndex(({ id }) => id === app) + 1;
    const what = [new Date(at).toISOString(), `application ${number}`, chipid ?? 'list', kind];
    lines.push(`- ${what.join(', ')}: ${code(message)}`);
  }
  if (errors.length === 0) lines.push('none');
  return `${lines.join('\n')}\n`;
}

async function copyDiagnostics(button: JQuery): Promise<void> {
  try {
    const body: unknown = await getRoute('diagnostics');
    const text = toMarkdown(body as Diagnostics, navigator.userAgent);
    RED.clipboard.copyText(text, button, 'clipboard.copyMessageValue');
  } catch (failure) {
    const { reason, detail } = readProblem(failure);
    notify(t('failed.read', { reason }), 'error', detail);
  }
}

/** A button that copies what helps with an issue. */
export function diagnosticsButton(): JQuery {
  const run = (button: JQuery): void => void copyDiagnostics(button);
  const button = smallButton('clipboard', t('diagnostics.copy'), t('diagnostics.hint'), run);
  return button.attr('id', 'device-cloud-diagnostics');
}
