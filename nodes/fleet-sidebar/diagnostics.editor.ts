import { t } from '../common/editor/catalogue';
import { explainFailure } from '../common/editor/devices';
import { plain } from '../common/editor/plain';
import { getRoute } from '../common/editor/routes';
import { notify } from './command.editor';

/** The answer of `device-cloud/diagnostics`. */
interface Diagnostics {
  versions: Record<string, string>;
  apps: { id: string; settings: Record<string, unknown>; counts: Record<string, number> }[];
  errors: { app: string; chipid: string | null; code: string; message: string; at: number }[];
}

/** A value within a line of Markdown, whatever is in it. Two backticks with nothing between them are no code. */
function code(value: unknown): string {
  const text = plain(String(value).replace(/[`\s]+/g, ' ')).trim();
  return text === '' ? 'empty' : `\`${text}\``;
}

const list = (values: Record<string, unknown>): string[] =>
  Object.entries(values).map(([name, value]) => `- ${name}: ${code(value)}`);

/** In English, whatever the reader's language: it is for an issue. */
export function toMarkdown({ versions, apps, errors }: Diagnostics, browser: string): string {
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

/** Copies what someone who helps needs to know. */
export async function copyDiagnostics(button: JQuery): Promise<void> {
  try {
    const body: unknown = await getRoute('diagnostics');
    const text = toMarkdown(body as Diagnostics, navigator.userAgent);
    RED.clipboard.copyText(text, button, 'clipboard.copyMessageValue');
  } catch (failure) {
    const { reason, detail } = explainFailure(failure, {
      permission: 'device-cloud.read',
      forbidden: t('forbidden'),
    });
    notify(t('failed.diagnostics', { reason }), 'error', detail);
  }
}
