import { MESSAGE, MESSAGE_CHOICES, type MessageConfig } from '../shared.config';
import type { EditorNode, PropertyDefinition } from './red';
import { checked, current, field, fieldValue, oneOf, onChange, prepared, show } from './rows';
import { t } from './texts';
import { revalidate, stringType, typed } from './typed-input';

/** In which format a message is pushed. @param check what else may be wrong with it */
export const format = <T extends MessageConfig>(
  check: (value: string, node: EditorNode<T>) => string | undefined = () => undefined,
): PropertyDefinition<T, T['format']> => {
  const right = oneOf(...MESSAGE_CHOICES.format);
  return checked<T, T['format']>(
    MESSAGE.format,
    'common.label.format',
    (value, node) => check(value, node) ?? right(value),
  );
};

export const message = <T extends MessageConfig>(): PropertyDefinition<T, string> => {
  const types = (node: EditorNode<T>) => {
    const text = stringType((value) => messageError(value, node));
    return ['msg', text, 'num', 'bool', 'json', 'bin'];
  };
  return prepared(
    typed<T>(MESSAGE.message, 'common.label.message', 'messageType', types),
    prepareNotes,
  );
};

export const messageType = { value: MESSAGE.messageType };

/** How many bytes a text typed by hand is when pushed, or its fault. */
type Payload = { bytes: number } | { error: string };

const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

function hexBytes(text: string): Payload {
  const digits = text.replace(/ /g, '');
  const isHex = /^(?:[0-9a-f]{2})*$/i.test(digits);
  return isHex ? { bytes: digits.length / 2 } : { error: t('common.error.hex') };
}

function base64Bytes(text: string): Payload {
  if (!BASE64.test(text)) return { error: t('common.error.base64') };
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  return { bytes: (text.length / 4) * 3 - padding };
}

/** Checks a text against the format of the push, by the rules of the library's `pushMessage`. */
function payloadOf(text: string, format: string): Payload {
  if (format === 'HEX') return hexBytes(text);
  return format === 'B64' ? base64Bytes(text) : { bytes: new TextEncoder().encode(text).length };
}

/** What is wrong with a message typed by hand, in the format that the node pushes. */
function messageError<T extends { format: string }>(
  text: string,
  node: EditorNode<T>,
): string | undefined {
  const payload = payloadOf(text, current(node, 'format'));
  return 'error' in payload ? payload.error : undefined;
}

/** Shows the byte count, or the fault, under a message typed by hand. */
function showNote(): void {
  const format = fieldValue(field('format'));
  const byHand = fieldValue(field('messageType')) === 'str' && format !== 'msg';
  const payload = payloadOf(field('message').typedInput('value'), format);
  const text = 'error' in payload ? payload.error : t('common.note.bytes', payload);
  $('#message-note')
    .text(byHand ? text : '')
    .toggleClass('device-cloud-wrong', 'error' in payload);
}

/** Makes the notes of the format and the message work. */
function prepareNotes(): void {
  onChange(['format'], () => {
    show('#format-note', fieldValue(field('format')) === 'msg');
    revalidate('message');
  });
  field('message').on('change', showNote).parent().on('input', showNote);
  showNote();
}
