import { AT_ONCE, EXPIRES, LIMIT, MAX_MANY, type ManyConfig, type WhenConfig } from '../action.config'; // prettier-ignore
import { MAX_SECONDS } from '../values';
import { t } from './catalogue';
import { current, field, fieldValue, onChange, show, ticked } from './form';
import type { EditorNode, PropertyDefinition } from './red';
import { oneOf, orDefault, seconds, validator, wholeNumber } from './validators';

interface ManyProperties<T> {
  many: PropertyDefinition<T, boolean>;
  limit: PropertyDefinition<T, number | string>;
  atOnce: PropertyDefinition<T, number | string>;
}

interface WhenProperties<T> {
  when: PropertyDefinition<T, 'now'>;
  expires: PropertyDefinition<T, number | string>;
}

const always = (): boolean => true;

/** The properties of a node that may call several devices. `applies`: whether it calls devices at all. */
export function manyProperties<T extends ManyConfig>(
  applies: (node: EditorNode<T>) => boolean = always,
): ManyProperties<T> {
  const count = validator<T>(
    orDefault(wholeNumber(1, MAX_MANY)),
    (node) => applies(node) && ticked(node, 'many'),
  );
  return {
    many: { value: false },
    limit: { value: LIMIT, label: t('common.label.limit'), validate: count },
    atOnce: { value: AT_ONCE, label: t('common.label.at-once'), validate: count },
  };
}

/** The properties of a node whose command may wait. `applies`: whether it can as the node is set. */
export function whenProperties<T extends ManyConfig & WhenConfig>(
  applies: (node: EditorNode<T>) => boolean = always,
): WhenProperties<T> {
  const right = orDefault(oneOf('now', 'online', 'upload'));
  const whenError = (when: string, node: EditorNode<T>): string | undefined =>
    right(when) ??
    (ticked(node, 'many') && when !== 'now' && when !== '' ? t('common.error.when') : undefined);
  const waits = (node: EditorNode<T>): boolean => {
    const when = current(node, 'when');
    return applies(node) && when !== '' && when !== 'now';
  };
  return {
    when: { value: 'now', label: t('common.label.when'), validate: validator(whenError, applies) },
    expires: {
      value: EXPIRES,
      label: t('common.label.expires'),
      validate: validator<T>(orDefault(seconds(0.001, MAX_SECONDS)), waits),
    },
  };
}

/** Shows the rows of several devices where they apply. @returns what to call when that may have changed */
export function prepareMany(applies: () => boolean = always): () => void {
  const adapt = (): void => {
    const many = field('many').is(':checked');
    show('#many-row', applies());
    show('#many-note', many);
    show('.many-only', applies() && many);
  };
  onChange(['many'], adapt);
  return adapt;
}

const canWait = (applies: () => boolean): boolean => applies() && !field('many').is(':checked');

/** Shows the rows of a command that may wait where they apply. @returns as {@link prepareMany} */
export function prepareWhen(applies: () => boolean = always): () => void {
  const adapt = (): void => {
    const wait = canWait(applies);
    show('#when-row', wait);
    show('#expires-row', wait && fieldValue(field('when')) !== 'now');
  };
  onChange(['many', 'when'], adapt);
  return adapt;
}

/** As `oneditsave`: a choice that is not shown must not stop the node. */
export function saveWhen(applies: () => boolean = always): void {
  if (!canWait(applies)) field('when').val('now');
}
