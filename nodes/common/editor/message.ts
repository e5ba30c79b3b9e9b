import { t } from './catalogue';
import { current, field, fieldValue } from './form';
import { payloadOf } from './payload';
import type { EditorNode } from './red';

/** What is wrong with a message typed by hand, in the format that the node pushes. */
export function messageError<T extends { format: string }>(
  text: string,
  node: EditorNode<T>,
): string | undefined {
  const payload = payloadOf(text, current(node, 'format'));
  return 'error' in payload ? payload.error : undefined;
}

const size = (bytes: number): string =>
  bytes === 1 ? t('common.note.byte') : t('common.note.bytes', { bytes });

/** Shows the byte count, or what is wrong, under a message typed by hand. */
export function showMessageNote(): void {
  const format = fieldValue(field('format'));
  const byHand = fieldValue(field('messageType')) === 'str' && format !== 'msg';
  const payload = payloadOf(field('message').typedInput('value'), format);
  const text = 'error' in payload ? payload.error : size(payload.bytes);
  $('#message-note')
    .text(byHand ? text : '')
    .toggleClass('device-cloud-wrong', 'error' in payload);
}
