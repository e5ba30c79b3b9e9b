import { t } from '../common/editor/catalogue';
import { fieldValue } from '../common/editor/form';
import { command, type Target } from './command.editor';

const FORMATS = ['MSG', 'HEX', 'AT', 'LUA', 'B64'];

/** Asks what to push to a device, and pushes it. */
export function askPush(target: Target): void {
  const message = $('<input>', { type: 'text', id: 'device-cloud-fleet-message' });
  const format = $('<select>', { id: 'device-cloud-fleet-format' });
  for (const name of FORMATS) $('<option>', { value: name }).text(name).appendTo(format);
  const field = (label: string, input: JQuery): JQuery => $('<label>').text(t(label)).append(input);
  const form = $('<form>', { class: 'device-cloud-fleet-push' }).append(
    // As text, always: the name comes from a server that may be anyone's.
    $('<p>').text(t('push.ask', { device: target.name })),
    field('push.message', message),
    field('push.format', format),
  );
  const push = (): void => {
    notification.close();
    void command(target, 'push', { message: fieldValue(message), format: fieldValue(format) });
  };
  const notification = RED.notify(form, {
    ...{ modal: true, fixed: true, type: 'warning' },
    buttons: [
      { text: t('push.cancel'), click: () => notification.close() },
      { text: t('push.push'), class: 'primary', click: push },
    ],
  });
  form.on('submit', (event) => {
    event.preventDefault();
    push();
  });
  form.on('keydown', ({ key }) => {
    if (key === 'Escape') notification.close();
  });
  setTimeout(() => message.trigger('focus'));
}
