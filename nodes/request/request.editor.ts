import { t } from '../common/editor/texts';
import { current, field, fieldValue, onChange, show } from '../common/editor/form';
import { messageError, showMessageNote } from '../common/editor/message';
import {
  appProperty,
  categoryDescription,
  chipidProperty,
  fixedDevice,
  labelOf,
  labelStyle,
  type Named,
  prepareDevice,
  selectOnlyApp,
  timeoutProperty,
} from '../common/editor/properties';
import type { EditorNode } from '../common/editor/red';
import {
  DYNAMIC,
  fixedInput,
  notBlank,
  oneOf,
  orDefault,
  revalidate,
  seconds,
  stringType,
  typedInput,
  typedValidator,
  validator,
} from '../common/editor/fields';
import { MAX_SECONDS } from '../common/shared.config';
import { DEFAULTS, type RequestConfig } from './request.config';

type Config = RequestConfig & Named;
type Node = EditorNode<Config>;
type Match = RequestConfig['match'];

/** The longest pattern that the library accepts. */
const MAX_PATTERN = 1000;

/** How the reply is recognised. A flow written by hand may leave it out. */
const matchOf = (node: Node): Match => (current(node, 'match') || 'property') as Match;

const matches =
  (match: Match) =>
  (node: Node): boolean =>
    matchOf(node) === match;

/** The run time reads a path with more care: this finds what is most likely wrong. */
function pathError(path: string): string | undefined {
  const step = /(?:^|\.)[^.[\]\s'"]+|\[(?:\d+|"[^"]*"|'[^']*')\]/y;
  let end = 0;
  for (step.lastIndex = 0; step.test(path);) end = step.lastIndex;
  return path !== '' && end === path.length ? undefined : t('error.path');
}

function patternError(pattern: string): string | undefined {
  if (pattern.length > MAX_PATTERN) return t('error.long', { max: MAX_PATTERN });
  try {
    new RegExp(pattern);
    return notBlank(pattern);
  } catch {
    return t('error.pattern');
  }
}

function expressionError(expression: string): string | undefined {
  const blank = notBlank(expression);
  if (blank !== undefined) return blank;
  const validity = RED.utils.validateTypedProperty(expression, 'jsonata', {});
  return validity === true ? undefined : validity || t('common.error.value');
}

/** A property needs an object, which these make of no upload. */
function datatypeError(datatype: string, node: Node): string | undefined {
  const isText = datatype === 'utf8' || datatype === 'base64';
  if (matchOf(node) === 'property' && isText) return t('error.no-object');
  return orDefault(oneOf('auto-detect', 'buffer', 'utf8', 'json', 'base64'))(datatype);
}

RED.nodes.registerType<Config>('device-cloud-request', {
  category: 'device cloud',
  categoryDescription,
  labelStyle,
  onadd: selectOnlyApp,
  paletteLabel: t('paletteLabel'),
  outputLabels: t('output'),
  color: '#a58bf0',
  icon: 'device-cloud-request.svg',
  inputs: 1,
  outputs: 1,
  defaults: {
    name: { value: '' },
    app: appProperty(),
    chipid: chipidProperty(),
    chipidType: { value: DEFAULTS.chipidType },
    format: {
      value: DEFAULTS.format,
      label: t('common.label.format'),
      validate: validator(orDefault(oneOf('MSG', 'HEX', 'AT', 'LUA', 'B64', 'msg'))),
    },
    message: {
      value: DEFAULTS.message,
      label: t('common.label.message'),
      validate: typedValidator('messageType', { str: messageError }),
    },
    messageType: { value: DEFAULTS.messageType },
    match: {
      value: DEFAULTS.match,
      label: t('label.match'),
      validate: validator(orDefault(oneOf('property', 'pattern', 'jsonata', 'next'))),
    },
    property: {
      value: DEFAULTS.property,
      label: t('label.property'),
      validate: validator<Config>(pathError, matches('property')),
    },
    equals: {
      value: DEFAULTS.equals,
      label: t('label.equals'),
      validate: typedValidator<Config>('equalsType', {}, matches('property')),
    },
    equalsType: { value: DEFAULTS.equalsType },
    pattern: {
      value: DEFAULTS.pattern,
      label: t('label.pattern'),
      validate: validator<Config>(patternError, matches('pattern')),
    },
    expression: {
      value: DEFAULTS.expression,
      label: t('label.expression'),
      validate: validator<Config>(expressionError, matches('jsonata')),
    },
    replyTimeout: {
      value: DEFAULTS.replyTimeout,
      label: t('label.replyTimeout'),
      validate: validator(orDefault(seconds(0.001, MAX_SECONDS))),
    },
    datatype: {
      value: DEFAULTS.datatype,
      label: t('common.label.datatype'),
      validate: validator<Config>(datatypeError),
    },
    timeout: timeoutProperty(),
  },
  label: function () {
    return labelOf(this.name, t('node.request'), fixedDevice(this));
  },
  oneditprepare: function () {
    prepareDevice(this);
    const text = stringType((value) => messageError(value, this));
    typedInput('message', ['msg', text, 'num', 'bool', 'json', 'bin', ...DYNAMIC]);
    typedInput('equals', ['str', 'num', 'bool', 'json', 'msg', ...DYNAMIC]);
    fixedInput('expression', 'jsonata');
    onChange(['match'], () => {
      const match = matchOf(this);
      show('.property-row', match === 'property');
      show('#pattern-row', match === 'pattern');
      show('#expression-row', match === 'jsonata');
      show('#next-note', match === 'next');
      // The chosen type may have become valid, or invalid.
      field('datatype').trigger('change');
    });
    onChange(['format'], () => {
      show('#format-note', fieldValue(field('format')) === 'msg');
      revalidate('message');
    });
    field('message').on('change', showMessageNote).parent().on('input', showMessageNote);
    showMessageNote();
  },
});
