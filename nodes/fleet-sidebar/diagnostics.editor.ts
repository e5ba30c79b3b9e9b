import type { Diagnostics } from '../app/answers.config';
import { getRoute } from '../common/editor/routes';
import { t } from '../common/editor/texts';
import { smallButton, triedToRead } from './commands.editor';

/** For an issue, as a block of code: what is in it cannot end it. */
const toMarkdown = (found: Diagnostics, browser: string): string =>
  `\`\`\`json\n${JSON.stringify({ browser, ...found }, null, 2).replaceAll('`', "'")}\n\`\`\`\n`;

const copyDiagnostics = (button: JQuery): Promise<void> =>
  triedToRead(async () => {
    const body: unknown = await getRoute('diagnostics');
    const text = toMarkdown(body as Diagnostics, navigator.userAgent);
    RED.clipboard.copyText(text, button, 'clipboard.copyMessageValue');
  });

/** A button that copies what helps with an issue. */
export function diagnosticsButton(): JQuery {
  const run = (button: JQuery): void => void copyDiagnostics(button);
  const button = smallButton('clipboard', t('diagnostics.copy'), t('diagnostics.hint'), run);
  return button.attr('id', 'device-cloud-diagnostics');
}
